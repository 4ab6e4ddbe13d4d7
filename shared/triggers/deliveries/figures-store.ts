import { and, count, gte, lt } from "drizzle-orm";
import type { Reader } from "../../db/database.ts";
import { lowestIdAt } from "../../ids.ts";

/** Deliveries that came from `from` on and before `to`. */
export async function countDeliveries(db: Reader, from: Date, to: Date) {
  const { deliveries } = db.tables;
  const { id, triggerId, status } = deliveries;
  return db
    .select({ triggerId, status, value: count() })
    .from(deliveries)
    .where(and(gte(id, lowestIdAt(from)), lt(id, lowestIdAt(to))))
    .groupBy(triggerId, status);
}
