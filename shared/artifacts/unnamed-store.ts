import { and, desc, eq, inArray, isNotNull } from "drizzle-orm";
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

/** Newest first: finished artifacts whose bytes are in the store. */
export async function listNewestStored(db: Db, limit: number): Promise<string[]> {
  const { artifacts } = db.tables;
  const rows = await db
    .select({ id: artifacts.id })
    .from(artifacts)
    .where(and(eq(artifacts.state, "finished"), isNotNull(artifacts.storedAt)))
    .orderBy(desc(artifacts.id))
    .limit(limit);
  return rows.map(({ id }) => id);
}
