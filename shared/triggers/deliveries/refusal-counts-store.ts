import { and, desc, eq, gte, isNull, lt, sql } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { prepared, valueFor } from "../../db/prepared.ts";
import type { Tables } from "../../db/schema.ts";

export type RefusalCount = Omit<Tables["refusedDeliveries"]["$inferSelect"], "organizationId">;
export type OwnedRefusalCount = RefusalCount & { organizationId: string };

export async function addRefusalCounts(tx: Tx, counts: OwnedRefusalCount[]): Promise<void> {
  const { refusedDeliveries } = tx.tables;
  for (const row of counts) {
    await tx
      .insert(refusedDeliveries)
      .values(row)
      .onConflictDoUpdate({
        target: [refusedDeliveries.triggerId, refusedDeliveries.hour, refusedDeliveries.cause],
        set: { count: sql`${refusedDeliveries.count} + ${row.count}` },
      });
  }
}

/** Newest first. */
export async function listRefusalCounts(db: Db, triggerId: string, since: Date): Promise<RefusalCount[]> {
  const { refusedDeliveries } = db.tables;
  return db
    .select()
    .from(refusedDeliveries)
    .where(and(eq(refusedDeliveries.triggerId, triggerId), gte(refusedDeliveries.hour, since)))
    .orderBy(desc(refusedDeliveries.hour), refusedDeliveries.cause);
}

export type PlacedRefusalCount = Awaited<ReturnType<typeof selectOfOrganization>>[number];

/** Counts of an organization's triggers, the latest hours first. */
export const listRefusalCountsOfOrganization = prepared<
  { organizationId: string; since: Date; limit: number },
  PlacedRefusalCount,
  Db
>(selectOfOrganization);

function selectOfOrganization(db: Db) {
  const { refusedDeliveries, triggers, pipelines } = db.tables;
  const { triggerId, hour, cause, count } = refusedDeliveries;
  return db
    .select({
      triggerId,
      hour,
      cause,
      count,
      trigger: { id: triggers.id, label: triggers.label, isProvider: triggers.isProvider },
      pipeline: { slug: pipelines.slug, name: pipelines.name },
    })
    .from(refusedDeliveries)
    .innerJoin(triggers, eq(triggers.id, triggerId))
    .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId))
    .where(
      and(
        eq(refusedDeliveries.organizationId, sql.placeholder("organizationId")),
        gte(hour, valueFor(hour, "since")),
        isNull(triggers.deletedAt),
        isNull(pipelines.deletedAt),
      ),
    )
    .orderBy(desc(hour))
    .limit(sql.placeholder("limit"));
}

/** The latest `limit` rows of all organizations, since an hour. */
export async function listRecentRefusalCounts(db: Db, since: Date, limit: number): Promise<RefusalCount[]> {
  const { refusedDeliveries } = db.tables;
  return db
    .select()
    .from(refusedDeliveries)
    .where(gte(refusedDeliveries.hour, since))
    .orderBy(desc(refusedDeliveries.hour))
    .limit(limit);
}

/** @returns the number deleted */
export async function deleteRefusalCountsBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { refusedDeliveries } = tx.tables;
  const { triggerId, hour, cause } = refusedDeliveries;
  const old = tx
    .select({ triggerId, hour, cause })
    .from(refusedDeliveries)
    .where(lt(hour, time))
    .orderBy(hour)
    .limit(limit);
  const deleted = await tx
    .delete(refusedDeliveries)
    .where(sql`(${triggerId}, ${hour}, ${cause}) in ${old}`)
    .returning({ hour });
  return deleted.length;
}
