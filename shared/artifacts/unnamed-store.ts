import { and, inArray } from "drizzle-orm";
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
