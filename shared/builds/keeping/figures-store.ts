import { and, count, gte, lt } from "drizzle-orm";
import type { Reader } from "../../db/database.ts";
import { lowestIdAt } from "../../ids.ts";

/** Builds of each organization that were made from `from` on and before `to`. */
export async function countBuilds(db: Reader, from: Date, to: Date) {
  const { id, organizationId } = db.tables.builds;
  return db
    .select({ organizationId, value: count() })
    .from(db.tables.builds)
    .where(and(gte(id, lowestIdAt(from)), lt(id, lowestIdAt(to))))
    .groupBy(organizationId);
}
