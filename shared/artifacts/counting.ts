import type { Tx } from "../db/database.ts";
import { hourOf } from "../durations.ts";
import { addToTotals, lockTotalsOf, subtractFromTotal } from "../retention/totals-store.ts";
import type { Artifact } from "./store.ts";

type Counted = Pick<Artifact, "organizationId" | "createdAt" | "size">;

/** Adds an artifact whose bytes were just stored to the total of its organization. */
export async function countArtifact(
  tx: Tx,
  { organizationId, createdAt, size: bytes }: Counted,
): Promise<void> {
  await addToTotals(tx, tx.tables.artifactTotals, hourOf(createdAt), [{ organizationId, bytes }]);
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
