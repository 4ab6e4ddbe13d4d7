import { and, asc, eq, gt, inArray, lte, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { factColumns, firstOfStep, type JobFacts } from "../../builds/rows/job-store.ts";
import { pauseOfQueue } from "../../builds/rows/pause-store.ts";
import { countOf } from "../../db/columns.ts";
import type { Db, Reader, Tx } from "../../db/database.ts";
import { isOneOf, prepared, valueFor } from "../../db/prepared.ts";
import { isScheduled } from "../../dispatch/store.ts";
import type { JobState } from "../../vocabulary.ts";
import type { Ending } from "../lease-store.ts";

/** The position of a job in the order of scheduling. */
export interface ScheduledCursor {
  scheduledAt: Date;
  id: string;
}

export type ScheduledJob = Awaited<ReturnType<typeof selectScheduled>>[number];

const scheduledJobs = prepared<{ queueId: string; limit: number } & ScheduledCursor, ScheduledJob, Reader>(
  selectScheduled,
);

/** A page of so many jobs leaves the event loop. */
const maxJobsOnLoop = 100;

/** Scheduled jobs of a queue behind a position, in the order of scheduling. */
export function listScheduledJobs(
  db: Db,
  page: { queueId: string; limit: number } & ScheduledCursor,
): PromiseLike<ScheduledJob[]> {
  return scheduledJobs(page.limit > maxJobsOnLoop ? db.offLoop : db, page);
}

function selectScheduled(db: Reader) {
  const { jobs, builds, pipelines } = db.tables;
  const first = firstOfStep(db);
  const keyOf = (options: SQLiteColumn) => sql<string | null>`${options} ->> 'key'`;
  const time = valueFor(jobs.scheduledAt, "scheduledAt");
  // Comparing rows lets both databases start at the position in the index.
  const isBehind = sql`(${jobs.scheduledAt}, ${jobs.id}) > (${time}, ${sql.placeholder("id")})`;
  return db
    .select({
      id: jobs.id,
      priority: jobs.priority,
      agentRules: jobs.agentRules,
      scheduledAt: jobs.scheduledAt,
      key: sql<string | null>`coalesce(${keyOf(jobs.ownOptions)}, ${keyOf(first.columns.ownOptions)})`,
      build: { id: builds.id, number: builds.number, branch: builds.branch },
      pipeline: { id: pipelines.id, slug: pipelines.slug },
    })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo)
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(and(eq(jobs.queueId, sql.placeholder("queueId")), isScheduled(jobs), isBehind))
    .orderBy(asc(jobs.scheduledAt), asc(jobs.id))
    .limit(sql.placeholder("limit"));
}

export interface JobInQueue {
  id: string;
  buildId: string;
  queueId: string | null;
  state: JobState;
}

/** Reads the jobs of these ids that are in queues of a cluster. */
export const listJobsOfCluster = prepared<{ ids: string[]; clusterId: string }, JobInQueue, Db>((db) => {
  const { jobs, queues } = db.tables;
  return db
    .select({ id: jobs.id, buildId: jobs.buildId, queueId: jobs.queueId, state: jobs.state })
    .from(jobs)
    .innerJoin(queues, eq(queues.id, jobs.queueId))
    .where(and(isOneOf(jobs.id, "ids"), eq(queues.clusterId, sql.placeholder("clusterId"))));
});

/**
 * scheduled → reserved, for a stack. Jobs that it has reserved before stay so for longer. Call it with the builds locked.
 * @param options.mayTake false: the queue is paused, and only what is reserved stays so
 */
export async function reserveIfFree(
  tx: Tx,
  ids: string[],
  { stackId, until, mayTake }: { stackId: string; until: Date; mayTake: boolean },
): Promise<JobFacts[]> {
  const { jobs } = tx.tables;
  const isOwn = and(eq(jobs.state, "reserved"), eq(jobs.stackId, stackId));
  const isFree = mayTake ? or(eq(jobs.state, "scheduled"), isOwn) : isOwn;
  return tx
    .update(jobs)
    .set({ state: "reserved", stackId, reservedUntil: until, dispatchPausedAt: null })
    .where(and(inArray(jobs.id, ids), isFree))
    .returning(factColumns(tx));
}

type ReservedJob = Pick<JobFacts, "id" | "buildId">;

/** Literals, because a parameter does not select a partial index. */
function isReserved({ state }: Tx["tables"]["jobs"]): SQL {
  return sql`${state} = 'reserved'`;
}

/** Jobs whose reservation ended before a time. */
export async function listReservedUntil(db: Db, time: Date, limit: number): Promise<ReservedJob[]> {
  const { jobs } = db.tables;
  return db
    .select({ id: jobs.id, buildId: jobs.buildId })
    .from(jobs)
    .where(and(isReserved(jobs), lte(jobs.reservedUntil, time)))
    .orderBy(asc(jobs.reservedUntil))
    .limit(limit);
}

/** The jobs that a stack has reserved, after an id. */
export async function listReservedBy(
  db: Db | Tx,
  stackId: string,
  { afterId, limit }: { afterId: string | undefined; limit: number },
): Promise<ReservedJob[]> {
  const { jobs } = db.tables;
  return db
    .select({ id: jobs.id, buildId: jobs.buildId })
    .from(jobs)
    .where(
      and(
        eq(jobs.stackId, stackId),
        isReserved(jobs),
        afterId === undefined ? undefined : gt(jobs.id, afterId),
      ),
    )
    .orderBy(asc(jobs.id))
    .limit(limit);
}

/** reserved → scheduled. Call it with the builds locked. */
export async function releaseIfReserved(
  tx: Tx,
  ids: string[],
  whose: { stackId: string } | { until: Date },
): Promise<JobFacts[]> {
  const { jobs } = tx.tables;
  const isTheirs = "until" in whose ? lte(jobs.reservedUntil, whose.until) : eq(jobs.stackId, whose.stackId);
  return tx
    .update(jobs)
    .set({ state: "scheduled", dispatchPausedAt: pauseOfQueue(tx) })
    .where(and(inArray(jobs.id, ids), eq(jobs.state, "reserved"), isTheirs))
    .returning(factColumns(tx));
}

/** scheduled, reserved by the stack → passed, failed. */
export async function endIfUntaken(
  tx: Tx,
  id: string,
  { stackId, ending, now }: { stackId: string; ending: Ending; now: Date },
) {
  const { jobs } = tx.tables;
  const isUntaken = or(
    eq(jobs.state, "scheduled"),
    and(eq(jobs.state, "reserved"), eq(jobs.stackId, stackId)),
  );
  const [ended] = await tx
    .update(jobs)
    .set({ ...ending, stackId, finishedAt: now, dispatchPausedAt: null })
    .where(and(eq(jobs.id, id), isUntaken))
    .returning();
  return ended;
}

/** Counts the jobs that each of some stacks has reserved, up to a limit. */
export async function countReserved(db: Db, stackIds: string[], limit: number): Promise<Map<string, number>> {
  const { stacks, jobs } = db.tables;
  if (stackIds.length === 0) return new Map();
  const ofStack = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.stackId, stacks.id), isReserved(jobs)))
    .limit(limit);
  const counts = await db
    .select({ id: stacks.id, total: countOf(ofStack) })
    .from(stacks)
    .where(inArray(stacks.id, stackIds));
  return new Map(counts.map(({ id, total }) => [id, total]));
}
