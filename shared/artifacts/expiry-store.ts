import { and, asc, eq, inArray, sql } from "drizzle-orm";
import type { Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";
import type { Artifact } from "./store.ts";

/** An artifact whose bytes are in the totals. */
export type CountedArtifact = Pick<Artifact, "id" | "organizationId" | "size" | "createdAt" | "uploadId">;

/** Oldest first, without those that their agents have not finished. */
export async function listOldestFinished(
  tx: Tx,
  organizationId: string,
  limit: number,
): Promise<CountedArtifact[]> {
  const { artifacts } = tx.tables;
  return selectCounted(tx)
    .where(
      and(
        eq(artifacts.organizationId, organizationId),
        sql`${artifacts.isCounted}`,
        eq(artifacts.state, "finished"),
      ),
    )
    .orderBy(asc(artifacts.createdAt))
    .limit(limit);
}

/** Artifacts of some builds, in any state. */
export async function listOwnersOfBuilds(
  tx: Tx,
  buildIds: string[],
  limit: number,
): Promise<Pick<Artifact, "id" | "organizationId">[]> {
  const { artifacts } = tx.tables;
  if (buildIds.length === 0) return [];
  return tx
    .select({ id: artifacts.id, organizationId: artifacts.organizationId })
    .from(artifacts)
    .where(inArray(artifacts.buildId, buildIds))
    .limit(limit);
}

export async function deleteArtifacts(
  tx: Tx,
  ids: string[],
): Promise<(CountedArtifact & Pick<Artifact, "isCounted">)[]> {
  const { artifacts } = tx.tables;
  if (ids.length === 0) return [];
  return tx
    .delete(artifacts)
    .where(inArray(artifacts.id, ids))
    .returning({ ...countedColumns(tx.tables), isCounted: artifacts.isCounted });
}

/** Counted → expired. Leaves out those that a person deleted meanwhile. */
export async function expireIfCounted(tx: Tx, ids: string[]): Promise<CountedArtifact[]> {
  const { artifacts } = tx.tables;
  if (ids.length === 0) return [];
  return tx
    .update(artifacts)
    .set({ state: "expired", isCounted: false })
    .where(and(inArray(artifacts.id, ids), eq(artifacts.isCounted, true)))
    .returning(countedColumns(tx.tables));
}

/** finished or error → deleted. */
export async function deleteIfEnded(tx: Tx, id: string): Promise<Artifact | undefined> {
  const { artifacts } = tx.tables;
  const [deleted] = await tx
    .update(artifacts)
    .set({ state: "deleted" })
    .where(and(eq(artifacts.id, id), inArray(artifacts.state, ["finished", "error"])))
    .returning();
  return deleted;
}

function selectCounted(db: Tx) {
  return db.select(countedColumns(db.tables)).from(db.tables.artifacts);
}

function countedColumns({ artifacts: { id, organizationId, size, createdAt, uploadId } }: Tables) {
  return { id, organizationId, size, createdAt, uploadId };
}
