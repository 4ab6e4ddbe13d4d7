import type { Tx } from "../db/database.ts";
import { hourOf } from "../durations.ts";
import { addToTotals, lockTotalsOf, subtractFromTotal, sumTotalsOf } from "../retention/totals-store.ts";
import type { Artifact } from "./store.ts";

type Counted = Pick<Artifact, "organizationId" | "createdAt" | "size">;

/**
 * Locks the total of this hour, and measures all of them: of announces that come together, each sees those before it.
 * @returns the bytes of all artifacts that an organization stores or has announced
 */
export async function lockArtifactBytes(tx: Tx, organizationId: string): Promise<number> {
  const { artifactTotals } = tx.tables;
  await addToTotals(tx, artifactTotals, hourOf(tx.now), [{ organizationId, bytes: 0 }]);
  return sumTotalsOf(tx, artifactTotals, organizationId);
}

/** Adds artifacts to the total of this hour. They count from their announcement on, before any byte has come. */
export async function countAnnounced(tx: Tx, organizationId: string, bytes: number): Promise<void> {
  await addToTotals(tx, tx.tables.artifactTotals, hourOf(tx.now), [{ organizationId, bytes }]);
}

/** Call before artifacts that may be counted are changed: an eviction takes its locks in this order. */
export async function lockArtifactTotals(tx: Tx, organizationIds: string[]): Promise<void> {
  await lockTotalsOf(tx, tx.tables.artifactTotals, organizationIds);
}

/** Takes an artifact that was counted, and is no longer, out of the total. */
export async function uncountArtifact(
  tx: Tx,
  { organizationId, createdAt, size: bytes }: Counted,
): Promise<void> {
  await subtractFromTotal(tx, tx.tables.artifactTotals, hourOf(createdAt), { organizationId, bytes });
}
