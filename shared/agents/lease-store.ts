import { and, asc, eq, gt, inArray, isNotNull, isNull, lt, lte, type SQL, sql } from "drizzle-orm";
import type { Build } from "../builds/rows/build-store.ts";
import { factColumns, isTrueByStep, type JobFacts, type JobRow } from "../builds/rows/job-store.ts";
import { pauseOfQueue } from "../builds/rows/pause-store.ts";
import type { Db, Tx } from "../db/database.ts";
import { isOneOf, prepared, preparedRow, valueFor } from "../db/prepared.ts";
import { isScheduled } from "../dispatch/store.ts";
import { leasedJobStates } from "../vocabulary.ts";

/** A job that an agent has, in one attempt. */
export interface Lease {
  jobId: string;
  agentId: string;
  /** Accepts of the job so far. 0: reserved for the first time. */
  attempt: number;
}

export const listJobsById = prepared<{ ids: string[] }, JobFacts, Db>((db) => {
  const { jobs } = db.tables;
  return db.select(factColumns(db)).from(jobs).where(isOneOf(jobs.id, "ids"));
});

type JobPlace = Pick<JobFacts, "id" | "buildId" | "agentId">;

/** The builds and agents of jobs. */
export const listJobPlaces = prepared<{ ids: string[] }, JobPlace, Db>((db) => {
  const { jobs } = db.tables;
  const { id, buildId, agentId } = jobs;
  return db.select({ id, buildId, agentId }).from(jobs).where(isOneOf(id, "ids"));
});

export const findJobWithBuild = preparedRow<{ id: string }, { job: JobFacts; build: Build }, Db>((db) => {
  const { jobs, builds } = db.tables;
  return db
    .select({ job: factColumns(db), build: builds })
    .from(jobs)
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .where(eq(jobs.id, sql.placeholder("id")));
});

/** The agents that had these jobs, by job id. */
export async function listAgentsOfJobs(tx: Tx, jobIds: string[]): Promise<Map<string, string | null>> {
  const { jobs } = tx.tables;
  if (jobIds.length === 0) return new Map();
  const found = await tx
    .select({ id: jobs.id, agentId: jobs.agentId })
    .from(jobs)
    .where(inArray(jobs.id, jobIds));
  return new Map(found.map(({ id, agentId }) => [id, agentId]));
}

/** scheduled → assigned. Or reserved → assigned: the agent of a stack asks for its job by id. */
export const assignIfIn = preparedRow<
  { states: ("scheduled" | "reserved")[]; id: string; agentId: string; now: Date },
  { id: string },
  Tx
>((tx) => {
  const { jobs } = tx.tables;
  return tx
    .update(jobs)
    .set({
      state: "assigned",
      agentId: valueFor(jobs.agentId, "agentId"),
      assignedAt: valueFor(jobs.assignedAt, "now"),
      dispatchPausedAt: null,
    })
    .where(and(eq(jobs.id, sql.placeholder("id")), isOneOf(jobs.state, "states")))
    .returning({ id: jobs.id });
});

/** assigned → assigned and accepted, in a new attempt. */
export const acceptIfAssigned = preparedRow<{ jobId: string; agentId: string; now: Date }, JobRow, Tx>(
  (tx) => {
    const { jobs } = tx.tables;
    const isOfAgent = and(
      eq(jobs.id, sql.placeholder("jobId")),
      eq(jobs.agentId, sql.placeholder("agentId")),
    );
    return tx
      .update(jobs)
      .set({ acceptedAt: valueFor(jobs.acceptedAt, "now"), attempt: sql`${jobs.attempt} + 1` })
      .where(and(isOfAgent, eq(jobs.state, "assigned"), isNull(jobs.acceptedAt)))
      .returning();
  },
);

/** assigned and accepted → running. */
export const startIfAccepted = preparedRow<Lease & { now: Date }, JobRow, Tx>((tx) => {
  const { jobs } = tx.tables;
  return tx
    .update(jobs)
    .set({ state: "running", startedAt: valueFor(jobs.startedAt, "now") })
    .where(and(whileLeased(tx), eq(jobs.state, "assigned")))
    .returning();
});

/** Stores the exit status that the agent expects of a job that runs. */
export const promiseIfRunning = preparedRow<Lease & { exitStatus: number; now: Date }, JobFacts, Tx>((tx) => {
  const { jobs } = tx.tables;
  return tx
    .update(jobs)
    .set({
      promisedExitStatus: valueFor(jobs.promisedExitStatus, "exitStatus"),
      promisedAt: valueFor(jobs.promisedAt, "now"),
    })
    .where(and(whileLeased(tx), inArray(jobs.state, ["running", "timing_out"])))
    .returning(factColumns(tx));
});

/** Call it in the transaction that starts the job. */
export const setTimesOutAt = preparedRow<{ id: string; timesOutAt: Date }, { id: string }, Tx>((tx) => {
  const { jobs } = tx.tables;
  return tx
    .update(jobs)
    .set({ timesOutAt: valueFor(jobs.timesOutAt, "timesOutAt") })
    .where(eq(jobs.id, sql.placeholder("id")))
    .returning({ id: jobs.id });
});

/** Stores when a job started that is being canceled. */
export const setStartedIfCanceling = preparedRow<Lease & { now: Date }, { id: string }, Tx>((tx) => {
  const { jobs } = tx.tables;
  return tx
    .update(jobs)
    .set({ startedAt: valueFor(jobs.startedAt, "now") })
    .where(and(whileLeased(tx), eq(jobs.state, "canceling"), isNull(jobs.startedAt)))
    .returning({ id: jobs.id });
});

export interface Ending extends Pick<JobFacts, "signal" | "signalReason" | "failureReason"> {
  exitStatus: number;
  /** The state of a job that nobody stops. */
  state: "passed" | "failed";
}

/** canceling → canceled, timing_out → timed_out unless it passed, other leased states → the one of the ending. */
export const endIfLeased = preparedRow<Lease & Ending & { now: Date }, JobRow, Tx>((tx) => {
  const { jobs } = tx.tables;
  const given = valueFor(jobs.state, "state");
  const state = sql`case when ${jobs.state} = 'canceling' then 'canceled' when ${jobs.state} = 'timing_out' and ${given} <> 'passed' then 'timed_out' else ${given} end`;
  return tx
    .update(jobs)
    .set({
      exitStatus: valueFor(jobs.exitStatus, "exitStatus"),
      signal: valueFor(jobs.signal, "signal"),
      signalReason: valueFor(jobs.signalReason, "signalReason"),
      state,
      // The reason of a cancel stays.
      failureReason: sql`coalesce(${valueFor(jobs.failureReason, "failureReason")}, ${jobs.failureReason})`,
      finishedAt: valueFor(jobs.finishedAt, "now"),
      timesOutAt: null,
      endsAt: null,
    })
    .where(whileLeased(tx))
    .returning();
});

/** canceling → canceled, once its agent had the time that was left to it. */
export async function endIfForced(
  tx: Tx,
  { id, reason, now }: { id: string; reason: string; now: Date },
): Promise<JobRow | undefined> {
  const { jobs } = tx.tables;
  const [ended] = await tx
    .update(jobs)
    .set({
      state: "canceled",
      failureReason: sql`coalesce(${jobs.failureReason}, ${reason})`,
      finishedAt: now,
      endsAt: null,
    })
    .where(and(eq(jobs.id, id), eq(jobs.state, "canceling"), lte(jobs.endsAt, now)))
    .returning();
  return ended;
}

export async function listJobsPastEnd(db: Db, now: Date, limit: number): Promise<JobFacts[]> {
  const { jobs } = db.tables;
  return db
    .select(factColumns(db))
    .from(jobs)
    .where(and(isNotNull(jobs.endsAt), lte(jobs.endsAt, now)))
    .orderBy(asc(jobs.endsAt))
    .limit(limit);
}

/** Call it in the transaction that ends the job. */
export async function setSoftFailed(tx: Tx, id: string): Promise<void> {
  const { jobs } = tx.tables;
  await tx.update(jobs).set({ softFailed: true }).where(eq(jobs.id, id));
}

/** assigned, running → scheduled. */
export async function requeueIfLeased(tx: Tx, lease: Lease): Promise<JobFacts | undefined> {
  const { jobs } = tx.tables;
  const [requeued] = await tx
    .update(jobs)
    .set({
      state: "scheduled",
      dispatchPausedAt: pauseOfQueue(tx),
      agentId: null,
      assignedAt: null,
      acceptedAt: null,
      startedAt: null,
      timesOutAt: null,
      promisedExitStatus: null,
      promisedAt: null,
    })
    .where(
      and(
        eq(jobs.id, lease.jobId),
        eq(jobs.agentId, lease.agentId),
        eq(jobs.attempt, lease.attempt),
        inArray(jobs.state, ["assigned", "running"]),
      ),
    )
    .returning(factColumns(tx));
  return requeued;
}

/** The condition of `isLeased` (builds/rows/is-leased.ts). */
function whileLeased(tx: Tx): SQL | undefined {
  const { jobs } = tx.tables;
  return and(
    eq(jobs.id, sql.placeholder("jobId")),
    eq(jobs.agentId, sql.placeholder("agentId")),
    eq(jobs.attempt, sql.placeholder("attempt")),
    inArray(jobs.state, leasedJobStates),
    isNotNull(jobs.acceptedAt),
  );
}

/** running → timing_out. */
export async function timeOutIfRunning(tx: Tx, id: string, now: Date): Promise<JobFacts | undefined> {
  const { jobs } = tx.tables;
  const [timingOut] = await tx
    .update(jobs)
    .set({ state: "timing_out", timesOutAt: null })
    .where(and(eq(jobs.id, id), eq(jobs.state, "running"), lte(jobs.timesOutAt, now)))
    .returning(factColumns(tx));
  return timingOut;
}

/** Changes when a running job times out. */
export async function setTimesOutAtIfRunning(
  tx: Tx,
  { jobId, agentId, attempt }: Lease,
  timesOutAt: Date,
): Promise<boolean> {
  const { jobs } = tx.tables;
  const isOfLease = and(eq(jobs.id, jobId), eq(jobs.agentId, agentId), eq(jobs.attempt, attempt));
  const changed = await tx
    .update(jobs)
    .set({ timesOutAt })
    .where(and(isOfLease, eq(jobs.state, "running")))
    .returning({ id: jobs.id });
  return changed.length > 0;
}

export async function listJobsPastTimeout(db: Db, now: Date, limit: number): Promise<JobFacts[]> {
  const { jobs } = db.tables;
  return db
    .select(factColumns(db))
    .from(jobs)
    .where(and(isNotNull(jobs.timesOutAt), lte(jobs.timesOutAt, now)))
    .orderBy(asc(jobs.timesOutAt))
    .limit(limit);
}

/** Jobs that were offered before a time, and not accepted. */
export async function listJobsOfferedBefore(db: Db, time: Date, limit: number): Promise<JobFacts[]> {
  const { jobs } = db.tables;
  return db
    .select(factColumns(db))
    .from(jobs)
    .where(and(sql`${jobs.state} = 'assigned'`, isNull(jobs.acceptedAt), lt(jobs.assignedAt, time))) // as in the index
    .orderBy(asc(jobs.assignedAt))
    .limit(limit);
}

/** scheduled → expired. */
export async function expireIfScheduled(
  tx: Tx,
  id: string,
  { before, now, reason }: { before: Date; now: Date; reason: string },
): Promise<JobFacts | undefined> {
  const { jobs } = tx.tables;
  const [expired] = await tx
    .update(jobs)
    .set({
      state: "expired",
      finishedAt: now,
      dispatchPausedAt: null,
      failureReason: reason,
      softFailed: isTrueByStep(tx, "soft_fail"),
    })
    .where(and(eq(jobs.id, id), eq(jobs.state, "scheduled"), lt(jobs.scheduledAt, before)))
    .returning(factColumns(tx));
  return expired;
}

/** Scheduled jobs of a queue that have waited since before a time. */
export async function listJobsWaitingSince(
  db: Db,
  queueId: string,
  { before, lowestId, limit }: { before: Date; lowestId: string; limit: number },
): Promise<JobFacts[]> {
  const { jobs } = db.tables;
  return db
    .select(factColumns(db))
    .from(jobs)
    .where(
      and(
        eq(jobs.queueId, queueId),
        eq(jobs.state, "scheduled"),
        lt(jobs.id, lowestId), // rises with time
        lt(jobs.scheduledAt, before),
      ),
    )
    .orderBy(asc(jobs.id))
    .limit(limit);
}

/** The first queue after an id that has scheduled jobs. */
export async function findQueueWithWaitingJobs(
  db: Db,
  afterId: string | undefined,
): Promise<string | undefined> {
  const { jobs } = db.tables;
  const [found] = await db
    .select({ id: jobs.queueId })
    .from(jobs)
    .where(and(isScheduled(jobs), afterId === undefined ? undefined : gt(jobs.queueId, afterId)))
    .orderBy(asc(jobs.queueId))
    .limit(1);
  return found?.id ?? undefined;
}
