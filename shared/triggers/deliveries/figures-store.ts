import { and, asc, count, gte, lt } from "drizzle-orm";
import type { Db, Reader } from "../../db/database.ts";
import { lowestIdAt, timeOfId } from "../../ids.ts";

/** The first time from `from` on at which a delivery came. */
export async function findDeliveryTime(db: Db, from: Date): Promise<Date | undefined> {
  const { deliveries } = db.tables;
  const [found] = await db
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(gte(deliveries.id, lowestIdAt(from)))
    .orderBy(asc(deliveries.id))
    .limit(1);
  return found && timeOfId(found.id);
}

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
