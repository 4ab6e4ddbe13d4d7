import {
  aliasedTable,
  and,
  asc,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  ne,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Reader, Tx } from "../../db/database.ts";
import { isOneOf, prepared, preparedRow } from "../../db/prepared.ts";
import { countRows } from "../../db/rows.ts";
import type { BuildOfChangedJobs } from "../../news/put.ts";
import {
  activeJobStates,
  type Failure,
  hardFailures,
  type JobState,
  leasedJobStates,
  runningJobStates,
  unfinishedJobStates,
  waitingJobStates,
} from "../../vocabulary.ts";
import type { Build } from "./build-store.ts";
import { dueOfCanceled } from "./due-of-jobs.ts";
import { putNewsOfChangedJobs } from "./job-news.ts";
import {
  factColumns,
  isTrueByStep,
  type Job,
  type JobFacts,
  type StoredJob,
  selectJobs,
  wholeJob,
} from "./job-store.ts";

const lockBuildsById = prepared<{ ids: string[] }, Build, Tx>((tx) => {
  const { builds } = tx.tables;
  return tx.lock(builds, isOneOf(builds.id, "ids"), "exclusive");
});

/** Locks builds. Call before changing their jobs: the other order deadlocks. */
export async function lockBuilds(tx: Tx, buildIds: string[]): Promise<Build[]> {
  return lockBuildsById(tx, { ids: buildIds });
}

/** Like `lockBuilds`; undefined if another transaction has it locked. */
export const lockBuildIfFree = preparedRow<{ id: string }, Build, Tx>((tx) => {
  const { builds } = tx.tables;
  return tx.lock(builds, eq(builds.id, sql.placeholder("id")), "if-free");
});

/** Call with the build locked. */
export async function findJob(tx: Tx, id: string): Promise<Job | undefined> {
  const found = await storedJob(tx, { id });
  return found && wholeJob(found);
}

const storedJob = preparedRow<{ id: string }, StoredJob, Tx>((tx) =>
  selectJobs(tx).where(eq(tx.tables.jobs.id, sql.placeholder("id"))),
);

/** The jobs that failed in one of these ways and were not retried, in the order of their steps. */
export async function listFailedJobs(
  tx: Tx,
  buildId: string,
  failures: readonly Failure[] = hardFailures,
): Promise<Job[]> {
  const { buildId: build, state, softFailed, retriedInJobId, position } = tx.tables.jobs;
  const states = failures.filter((each) => each !== "soft_failed");
  const isOne = or(
    and(inArray(state, states), eq(softFailed, false)),
    failures.includes("soft_failed") ? and(inArray(state, failedStates), softFailed) : undefined,
  );
  const found = await selectJobs(tx)
    .where(and(eq(build, buildId), isNull(retriedInJobId), isOne))
    .orderBy(asc(position));
  return found.map(wholeJob);
}

/** The running jobs of a build that promise to fail. */
export async function listPromising(tx: Tx, buildId: string): Promise<Job[]> {
  const { jobs } = tx.tables;
  const found = await selectJobs(tx).where(and(eq(jobs.buildId, buildId), isPromising(jobs)));
  return found.map(wholeJob);
}

function isPromising({ state, promisedAt }: Tx["tables"]["jobs"]): SQL | undefined {
  return and(inArray(state, ["running", "timing_out"]), isNotNull(promisedAt));
}

export function countFailedJobs(db: Reader, buildId: string): Promise<number> {
  const { jobs } = db.tables;
  return countRows(db, jobs, and(eq(jobs.buildId, buildId), isFailed(jobs)));
}

const failedStates: JobState[] = [...hardFailures];

function isFailed({ state, softFailed, retriedInJobId }: Tx["tables"]["jobs"]): SQL | undefined {
  return and(inArray(state, failedStates), eq(softFailed, false), isNull(retriedInJobId));
}

interface Standing {
  /** A job runs or waits for an agent. */
  hasActive: boolean;
  /** A job ended otherwise than the build needs. */
  hasFailed: boolean;
  /** A running job promises to fail, softly or not. */
  hasPromise: boolean;
  /** A job waits for other steps. */
  hasWaiting: boolean;
  /** A step other than a wait was not left out. */
  hasCommand: boolean;
  /** The last of its running jobs has ended, and its work has not. */
  isIdle: boolean;
}

const standing = prepared<{ buildId: string }, Standing, Tx>((tx) => {
  const { builds, jobs } = tx.tables;
  const has = (condition: SQL | undefined) => {
    const found = tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.buildId, builds.id), condition));
    return sql<boolean>`exists ${found}`.mapWith(Boolean);
  };
  const { state, type } = jobs;
  const { workingSince } = builds;
  const isRunning = inArray(state, runningJobStates);
  return tx
    .select({
      hasActive: has(inArray(state, activeJobStates)),
      hasFailed: has(or(isFailed(jobs), inArray(state, ["waiting_failed", "blocked_failed"]))),
      hasPromise: has(isPromising(jobs)),
      hasWaiting: has(inArray(state, waitingJobStates)),
      hasCommand: has(and(ne(type, "waiter"), ne(state, "broken"))),
      isIdle: sql<boolean>`${isNotNull(workingSince)} and not ${has(isRunning)}`.mapWith(Boolean),
    })
    .from(builds)
    .where(eq(builds.id, sql.placeholder("buildId")));
});

const nothing: Standing = {
  hasActive: false,
  hasFailed: false,
  hasPromise: false,
  hasWaiting: false,
  hasCommand: false,
  isIdle: false,
};

/** Reads the standing of a build's jobs in one statement. */
export async function findStanding(tx: Tx, buildId: string): Promise<Standing> {
  const [found] = await standing(tx, { buildId });
  return found ?? nothing;
}

/** Jobs of a build, of a step of it, or one of them. */
interface JobsToCancel {
  build: BuildOfChangedJobs;
  stepId?: string;
  jobId?: string;
  /** Only jobs whose step is to be canceled once its build fails. */
  isOnFailing?: true;
  /** For people. */
  reason?: string;
}

/**
 * The jobs that a cancel ends, if they have not finished: jobs without an agent → canceled, others → canceling. An
 * agent that has not accepted its job never starts it.
 * @returns the changed jobs
 */
export async function cancelJobsIfUnfinished(
  tx: Tx,
  { build, stepId, jobId, isOnFailing, reason }: JobsToCancel,
  now: Date,
): Promise<JobFacts[]> {
  const { jobs } = tx.tables;
  const these = and(
    eq(jobs.buildId, build.id),
    stepId === undefined ? undefined : eq(jobs.stepId, stepId),
    jobId === undefined ? undefined : eq(jobs.id, jobId),
    isOnFailing && isTrueByStep(tx, "cancel_on_build_failing"),
  );
  const given = reason === undefined ? {} : { failureReason: reason };
  const stopping = await tx
    .update(jobs)
    .set({ state: "canceling", timesOutAt: null, ...given })
    .where(
      and(
        these,
        inArray(jobs.state, leasedJobStates),
        ne(jobs.state, "canceling"),
        sql`${jobs.acceptedAt} is not null`,
      ),
    )
    .returning(factColumns(tx));
  const ended = await tx
    .update(jobs)
    .set({
      state: "canceled",
      finishedAt: now,
      dispatchPausedAt: null,
      softFailed: isTrueByStep(tx, "soft_fail"),
      unblockable: false,
      ...given,
    })
    .where(and(these, inArray(jobs.state, unfinishedJobStates), isNull(jobs.acceptedAt)))
    .returning(factColumns(tx));
  await dueOfCanceled(tx, ended);
  await putNewsOfChangedJobs(tx, build, ended);
  return [...stopping, ...ended];
}

/** Sets when jobs that are being canceled end, whatever their agents do. An earlier time stays. */
export async function setEndsAtIfCanceling(
  tx: Tx,
  { buildId, stepId }: { buildId: string; stepId: string },
  endsAt: Date,
): Promise<void> {
  const { jobs } = tx.tables;
  const isLater = or(isNull(jobs.endsAt), gt(jobs.endsAt, endsAt));
  await tx
    .update(jobs)
    .set({ endsAt })
    .where(and(eq(jobs.buildId, buildId), eq(jobs.stepId, stepId), eq(jobs.state, "canceling"), isLater));
}

/** Sets the priority of a command that no agent has. */
export async function reprioritizeIfWaiting(
  tx: Tx,
  id: string,
  priority: number,
): Promise<JobFacts | undefined> {
  const { jobs } = tx.tables;
  const [changed] = await tx
    .update(jobs)
    .set({ priority })
    .where(
      and(eq(jobs.id, id), inArray(jobs.state, [...waitingJobStates, "limited", "scheduled", "reserved"])),
    )
    .returning(factColumns(tx));
  return changed;
}

/**
 * finished → retried, of jobs whose retries were inserted. Of simultaneous retries, exactly one gets the row.
 * @returns their number
 */
export async function markRetriedIfNot(
  tx: Tx,
  retried: Pick<Job, "id" | "buildId" | "state">[],
  retriedById: string | null,
): Promise<number> {
  const { jobs } = tx.tables;
  const retry = aliasedTable(jobs, "retry");
  const isRetry = and(
    eq(retry.buildId, jobs.buildId),
    eq(retry.state, "scheduled"),
    eq(retry.position, jobs.position), // the index has it
    eq(retry.retryOfJobId, jobs.id),
  );
  const retries = tx.select({ id: retry.id }).from(retry).where(isRetry);
  const isRetried = and(
    inArray(jobs.buildId, [...new Set(retried.map(({ buildId }) => buildId))]),
    inArray(jobs.state, [...new Set(retried.map(({ state }) => state))]),
    isNull(jobs.retriedInJobId),
    exists(retries),
  );
  const marked = await tx
    .update(jobs)
    .set({ retriedInJobId: sql`${retries}`, retriedById })
    .where(isRetried)
    .returning({ id: jobs.id });
  return marked.length;
}
