import { and, desc, eq, inArray, isNotNull, lt } from "drizzle-orm";
import type { Db } from "../db/database.ts";
import type { ArtifactState } from "../vocabulary.ts";

/** Returns those of the ids whose artifact is in one of the states. */
export async function findIdsInStates(db: Db, ids: string[], states: ArtifactState[]): Promise<Set<string>> {
  const { artifacts } = db.tables;
  if (ids.length === 0) return new Set();
  const rows = await db
    .select({ id: artifacts.id })
    .from(artifacts)
    .where(and(inArray(artifacts.id, ids), inArray(artifacts.state, states)));
  return new Set(rows.map(({ id }) => id));
}

/** Newest first: finished artifacts whose bytes are in the store, with what these have to be. */
export function listStored(db: Db, { before, limit }: { before?: string | undefined; limit: number }) {
  const { artifacts } = db.tables;
  const { id, size, sha1, sha256 } = artifacts;
  return db
    .select({ id, bytes: size, sha1, sha256 })
    .from(artifacts)
    .where(
      and(
        eq(artifacts.state, "finished"),
        isNotNull(artifacts.storedAt),
        before ? lt(id, before) : undefined,
      ),
    )
    .orderBy(desc(id))
    .limit(limit);
}
