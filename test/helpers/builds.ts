import { count, eq } from "drizzle-orm";
import type { World } from "./world.ts";

/** All builds of a world, oldest first. */
export async function allBuilds({ services: { db } }: Pick<World, "services">) {
  const { builds } = db.tables;
  return db.select().from(builds).orderBy(builds.id);
}

export async function countBuilds({ services: { db } }: Pick<World, "services">): Promise<number> {
  const [row] = await db.select({ total: count() }).from(db.tables.builds);
  return row?.total ?? 0;
}

export async function buildOfDelivery({ services: { db } }: Pick<World, "services">, deliveryId: string) {
  const { builds } = db.tables;
  const [build] = await db.select().from(builds).where(eq(builds.deliveryId, deliveryId));
  return build;
}

export async function findDelivery({ services: { db } }: Pick<World, "services">, id: string) {
  const { deliveries } = db.tables;
  const [delivery] = await db.select().from(deliveries).where(eq(deliveries.id, id));
  return delivery;
}
