import { and, asc, count, gte, lt } from "drizzle-orm";
import type { Db, Reader } from "../db/database.ts";
import { lowestIdAt, timeOfId } from "../ids.ts";

/** The first time from `from` on at which a build was made. */
export async function findBuildTime(db: Db, from: Date): Promise<Date | undefined> {
  const { builds } = db.tables;
  const [found] = await db
    .select({ id: builds.id })
    .from(builds)
    .where(gte(builds.id, lowestIdAt(from)))
    .orderBy(asc(builds.id))
    .limit(1);
  return found && timeOfId(found.id);
}

/** Builds of each organization that were made from `from` on and before `to`. */
export async function countBuilds(db: Reader, from: Date, to: Date) {
  const { id, organizationId } = db.tables.builds;
  return db
    .select({ organizationId, value: count() })
    .from(db.tables.builds)
    .where(and(gte(id, lowestIdAt(from)), lt(id, lowestIdAt(to))))
    .groupBy(organizationId);
}
