import { inArray } from "drizzle-orm";
import type { Db, Reader, Tx } from "../db/database.ts";
import { unfinishedBuildStates } from "../vocabulary.ts";

export async function hasBuilds(db: Reader | Tx): Promise<boolean> {
  const { builds } = db.tables;
  return (await db.select({ id: builds.id }).from(builds).limit(1)).length > 0;
}

export async function listUnfinishedBuilds({ offLoop }: Db): Promise<string[]> {
  const { builds } = offLoop.tables;
  const found = await offLoop
    .select({ id: builds.id })
    .from(builds)
    .where(inArray(builds.state, unfinishedBuildStates));
  return found.map(({ id }) => id);
}
