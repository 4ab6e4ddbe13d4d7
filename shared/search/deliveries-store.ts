import { and, desc, eq, gt, inArray, isNull, sql } from "drizzle-orm";
import type { Reader } from "../db/database.ts";

export type FoundDelivery = Awaited<ReturnType<typeof listDeliveriesById>>[number];

/** Leaves out deliveries whose trigger or pipeline is deleted: they have no page. */
export async function listDeliveriesById(db: Reader, organizationId: string, ids: string[]) {
  const { deliveries, pipelines, triggers } = db.tables;
  return db
    .select({
      id: deliveries.id,
      externalId: deliveries.externalId,
      event: deliveries.event,
      receivedAt: deliveries.receivedAt,
      trigger: { id: triggers.id, label: triggers.label },
      pipeline: { slug: pipelines.slug, name: pipelines.name },
    })
    .from(deliveries)
    .innerJoin(triggers, eq(triggers.id, deliveries.triggerId))
    .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId))
    .where(
      and(
        inArray(deliveries.id, ids),
        isNull(triggers.deletedAt),
        eq(pipelines.organizationId, organizationId),
        isNull(pipelines.deletedAt),
      ),
    )
    .orderBy(desc(deliveries.id));
}

/** The ids of those after another one that have this id of their sender, newest first. */
export async function listNewDeliveries(
  db: Reader,
  search: { organizationId: string; externalId: string; after: string; limit: number },
): Promise<string[]> {
  const { deliveries, pipelines, triggers } = db.tables;
  const { id, triggerId, externalId } = deliveries;
  const isOfOrganization = and(
    eq(pipelines.organizationId, search.organizationId),
    isNull(pipelines.deletedAt),
  );
  const isOfTrigger = and(eq(triggerId, triggers.id), gt(id, search.after));
  const found = await db
    .select({ id })
    .from(pipelines)
    // Inner joins would let SQLite read the deliveries of all organizations first.
    .crossJoin(triggers)
    .crossJoin(deliveries)
    .where(
      and(
        isOfOrganization,
        eq(triggers.pipelineId, pipelines.id),
        isOfTrigger,
        // SQLite would make an index of all deliveries for a plain column.
        sql`${externalId} || '' = ${search.externalId}`,
      ),
    )
    .orderBy(desc(id))
    .limit(search.limit);
  return found.map((row) => row.id);
}
