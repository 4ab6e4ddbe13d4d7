import { asc, inArray } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { Build } from "./store.ts";

/** The builds that these deliveries made, the first of each first. */
export async function listBuildsOfDeliveries(db: Db | Tx, deliveryIds: string[]): Promise<Build[]> {
  const { builds } = db.tables;
  if (deliveryIds.length === 0) return [];
  return db.select().from(builds).where(inArray(builds.deliveryId, deliveryIds)).orderBy(asc(builds.number));
}
