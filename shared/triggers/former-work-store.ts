import { and, asc, eq, inArray, isNull, notExists, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { Task } from "../tasks/store.ts";

/** Moves the oldest follow-ups to the tasks. Those whose subject is gone are dropped. @returns their number */
export async function moveFollowUps(tx: Tx, limit: number): Promise<number> {
  const { builds, concurrencyGroups, followUps, jobs, tasks } = tx.tables;
  // An id is of one table alone.
  const ofJob = tx.select({ id: jobs.buildId }).from(jobs).where(eq(jobs.id, followUps.subjectId));
  const ofBuild = sql`(select ${builds.organizationId} from ${builds} where ${builds.id} = coalesce(${ofJob}, ${followUps.subjectId}))`;
  const ofGroup = sql`(select ${concurrencyGroups.organizationId} from ${concurrencyGroups} where ${concurrencyGroups.id} = ${followUps.subjectId})`;
  const { id, kind, subjectId, createdAt } = followUps;
  const found = await tx
    .select({
      ...{ id, kind, subjectId, dueAt: createdAt },
      organizationId: sql<string | null>`coalesce(${ofBuild}, ${ofGroup})`,
    })
    .from(followUps)
    .orderBy(asc(id))
    .limit(limit);
  const rows = found.flatMap(({ organizationId, ...row }): Task[] =>
    organizationId === null ? [] : [{ ...row, organizationId, failures: 0 }],
  );
  await tx.insertMany(tasks, rows);
  const ids = found.map((row) => row.id);
  if (ids.length > 0) await tx.delete(followUps).where(inArray(id, ids));
  return found.length;
}

/** Bulk rebuilds that run, and have no task. */
export async function listBulkRebuildsWithoutTask(
  db: Db,
  limit: number,
): Promise<{ id: string; organizationId: string }[]> {
  const { bulkRebuilds, tasks } = db.tables;
  const { id, organizationId, finishedAt } = bulkRebuilds;
  const ofIt = and(eq(tasks.kind, "bulk_rebuild"), eq(tasks.subjectId, id));
  const own = db.select({ id: tasks.id }).from(tasks).where(ofIt);
  return db
    .select({ id, organizationId })
    .from(bulkRebuilds)
    .where(and(isNull(finishedAt), notExists(own)))
    .limit(limit);
}

/** Gives waiting deliveries of the former release their organization. @returns their number */
export async function adoptDeliveries(tx: Tx, limit: number): Promise<number> {
  const { deliveries, pipelines, triggers } = tx.tables;
  const { id, isFiltered, organizationId, status, triggerId } = deliveries;
  const isFormer = and(isNull(status), eq(isFiltered, false), isNull(organizationId));
  const found = await tx
    .select({ id, owner: pipelines.organizationId, filter: triggers.filter })
    .from(deliveries)
    .innerJoin(triggers, eq(triggers.id, triggerId))
    .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId))
    .where(isFormer)
    .limit(limit);
  const groups = Map.groupBy(found, ({ owner, filter }) => `${owner} ${filter !== null}`);
  for (const [, alike] of groups) {
    const [{ owner, filter }] = alike as [(typeof found)[number]];
    const ids = alike.map((row) => row.id);
    await tx
      .update(deliveries)
      .set({ organizationId: owner, isFiltered: filter !== null })
      .where(inArray(id, ids));
  }
  return found.length;
}
