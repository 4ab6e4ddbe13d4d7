import { and, asc, count, eq, inArray, isNull, or, type SQL, sql, sum } from "drizzle-orm";
import type { Db, Reader } from "../../db/database.ts";
import { selectCountUpTo } from "../../db/list-page.ts";
import { isOneOf, prepared, preparedRow } from "../../db/prepared.ts";
import type { JobState } from "../../vocabulary.ts";
import { sizeOfStep } from "../rows/build-store.ts";
import { factColumns, firstOfStep, type Job, selectJobs, wholeJob } from "../rows/job-store.ts";
import { someOptions } from "./job-list-store.ts";

// Answers of REST have whole builds. These reads tell how large they are, and read some jobs at a time.

const answeredOptions = [
  ...(["key", "parallel", "group", "matrix", "signature", "trigger", "artifact_paths", "queue"] as const),
  ...(["concurrency", "concurrency_group", "concurrency_method"] as const),
];
/** More rows are measured off the event loop. */
const maxRowsOnLoop = 500;

export interface JobFilter {
  hasJobs: boolean;
  /** Default: false. */
  hasRetriedJobs?: boolean;
  /** Default: all. */
  jobStates?: JobState[] | undefined;
}

/** A filter as prepared queries take it. */
interface FilterValues {
  jobStates: JobState[];
  /** With a list of all states, SQLite would look up each of them for each build. */
  withAllStates: 0 | 1;
  withRetried: 0 | 1;
}

function filterValues({ hasRetriedJobs = false, jobStates }: AnsweredJobs): FilterValues {
  return {
    jobStates: jobStates ?? [],
    withAllStates: jobStates ? 0 : 1,
    withRetried: hasRetriedJobs ? 1 : 0,
  };
}

/** Like `isAnswered`, for prepared queries: they take the filter as FilterValues. */
function passesFilter({ tables: { jobs } }: Reader): SQL | undefined {
  return and(
    or(sql`${sql.placeholder("withAllStates")} = 1`, isOneOf(jobs.state, "jobStates")),
    or(sql`${sql.placeholder("withRetried")} = 1`, isNull(jobs.retriedInJobId)),
  );
}

export interface AnswerSize {
  jobs: number;
  /** Of the texts of steps, of meta-data and of variables. */
  bytes: number;
}

/** Runs a long read in a turn of its owner. */
export type InTurn = <Result>(read: () => Promise<Result>) => Promise<Result>;

/**
 * Measures what answers have of each build.
 * @param inTurn runs the read if it has many rows
 */
export async function measureAnswers(
  db: Db,
  ids: string[],
  { hasJobs, ...filter }: JobFilter,
  inTurn: InTurn,
): Promise<Map<string, AnswerSize>> {
  if (ids.length === 0) return new Map();
  const { onLoop, offLoop } = hasJobs ? withJobs : withoutJobs;
  const given: Measured = { ids, ...filterValues(filter) };
  const few = await onLoop(db, given);
  const found = few.length > 0 ? few : await inTurn(async () => offLoop(db, given));
  return new Map(found.map(({ id, ...size }) => [id, size]));
}

type SizeOfBuild = { id: string } & AnswerSize;
type Measured = { ids: string[] } & FilterValues;

const withJobs = sizesOf(true);
const withoutJobs = sizesOf(false);

function sizesOf(hasJobs: boolean) {
  /** False: there are too many rows to measure them on the event loop. */
  const areFew = (db: Db) => {
    const { jobs, metaData } = db.tables;
    const counts = (hasJobs ? [jobs, metaData] : [metaData]).map(
      (table) => sql`(${selectCountUpTo(db, table, isOneOf(table.buildId, "ids"), maxRowsOnLoop)})`,
    );
    return sql`${sql.join(counts, sql` + `)} < ${sql.raw(`${maxRowsOnLoop}`)}`;
  };
  return {
    onLoop: prepared<Measured, SizeOfBuild, Db>((db) => selectSizes(db, hasJobs, areFew(db))),
    offLoop: prepared<Measured, SizeOfBuild, Db>(({ offLoop }) => selectSizes(offLoop, hasJobs)),
  };
}

function selectSizes(reader: Reader, hasJobs: boolean, condition?: SQL) {
  const { builds, jobs, metaData } = reader.tables;
  const first = firstOfStep(reader);
  const ofMetaData = reader
    .select({ bytes: sum(sql`octet_length(${metaData.key}) + octet_length(${metaData.value})`) })
    .from(metaData)
    .where(eq(metaData.buildId, builds.id));
  const sizes = [
    sql`octet_length(${builds.environmentSealed})`,
    sql`(${ofMetaData})`,
    sum(sizeOfStep(reader)),
  ];
  const bytes = sql.join(
    sizes.map((size) => sql`coalesce(${size}, 0)`),
    sql` + `,
  );
  return reader
    .select({ id: builds.id, jobs: count(jobs.id), bytes: bytes.mapWith(Number) })
    .from(builds)
    .leftJoin(jobs, hasJobs ? and(eq(jobs.buildId, builds.id), passesFilter(reader)) : sql`false`)
    .leftJoin(first.table, first.isReferredTo)
    .where(and(isOneOf(builds.id, "ids"), condition))
    .groupBy(builds.id);
}

export interface JobSize {
  id: string;
  /** Of the text of its step. */
  bytes: number;
}

/** The jobs of a build in the order of its steps. */
export async function listJobSizes(db: Db, buildId: string, filter: AnsweredJobs): Promise<JobSize[]> {
  const { jobs } = db.tables;
  const first = firstOfStep(db);
  return db.offLoop
    .select({ id: jobs.id, bytes: sizeOfStep(db).mapWith(Number) })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo)
    .where(and(eq(jobs.buildId, buildId), isAnswered(db, filter)))
    .orderBy(asc(jobs.position), asc(jobs.id));
}

/** A job with those of its options that are read: a presenter can use no others. */
export interface AnsweredJob {
  job: Omit<Job, "options"> & { options: Pick<JobOptions, (typeof answeredOptions)[number]> | null };
  queue: AnsweredRow["queue"];
}

type JobOptions = NonNullable<Job["options"]>;

/** Some jobs as answers show them, in the order of the steps. */
export async function listAnsweredJobs(
  db: Db,
  given: { ids: string[] } | ({ buildIds: string[] } & AnsweredJobs),
): Promise<AnsweredJob[]> {
  const rows = await ("ids" in given
    ? answeredJobs(db, given)
    : answeredJobsOfBuilds(db, { buildIds: given.buildIds, ...filterValues(given) }));
  return rows.map((row) => ({ job: wholeJob(row), queue: row.queue }));
}

type AnsweredRow = Awaited<ReturnType<typeof selectAnswered>>[number];
const answeredJobs = prepared<{ ids: string[] }, AnsweredRow, Db>((db) =>
  selectAnswered(db, isOneOf(db.tables.jobs.id, "ids")),
);
const answeredJobsOfBuilds = prepared<{ buildIds: string[] } & FilterValues, AnsweredRow, Db>((db) =>
  selectAnswered(db, and(isOneOf(db.tables.jobs.buildId, "buildIds"), passesFilter(db))),
);

function selectAnswered(db: Db, where: SQL | undefined) {
  const { jobs, queues } = db.tables;
  const first = firstOfStep(db);
  return db
    .select({
      job: { ...factColumns(db), ...answeredText(jobs) },
      first: { id: first.columns.id, ...answeredText(first.table) },
      queue: { id: queues.id, key: queues.key, clusterId: queues.clusterId },
    })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo)
    .leftJoin(queues, eq(queues.id, jobs.queueId)) // a waiter has none
    .where(where)
    .orderBy(asc(jobs.position), asc(jobs.id));
}

const storedJob = preparedRow<{ id: string }, Parameters<typeof wholeJob>[0], Db>((db) =>
  selectJobs(db).where(eq(db.tables.jobs.id, sql.placeholder("id"))),
);

/** A job of a build, with all of its step. */
export async function findJobOfBuild(db: Db, buildId: string, id: string): Promise<Job | undefined> {
  const stored = await storedJob(db, { id });
  return stored?.job.buildId === buildId ? wholeJob(stored) : undefined;
}

function answeredText(step: ReturnType<typeof firstOfStep>["table"] | Db["tables"]["jobs"]) {
  const { ownLabel, ownCommand, ownOptions } = step;
  return { ownLabel, ownCommand, ownOptions: someOptions(ownOptions, answeredOptions) };
}

export type AnsweredJobs = Pick<JobFilter, "hasRetriedJobs" | "jobStates">;

/** The condition that finds the jobs that an answer has. */
export function isAnswered(
  { tables: { jobs } }: Reader,
  { hasRetriedJobs = false, jobStates }: AnsweredJobs,
): SQL | undefined {
  return and(
    hasRetriedJobs ? undefined : isNull(jobs.retriedInJobId),
    jobStates && inArray(jobs.state, jobStates),
  );
}

/** Counts the jobs of a build by their states, without those that were retried. */
export async function countJobStates(db: Db, buildId: string): Promise<{ state: JobState; jobs: number }[]> {
  const few = await statesOfFewJobs(db, { buildId });
  return few.length > 0 ? few : statesOfJobs(db, { buildId });
}

const statesOfJobs = prepared<{ buildId: string }, { state: JobState; jobs: number }, Db>(({ offLoop }) =>
  selectStates(offLoop),
);
const statesOfFewJobs = prepared<{ buildId: string }, { state: JobState; jobs: number }, Db>((db) => {
  const { jobs } = db.tables;
  const rows = selectCountUpTo(db, jobs, eq(jobs.buildId, sql.placeholder("buildId")), maxRowsOnLoop);
  return selectStates(db, sql`(${rows}) < ${sql.raw(`${maxRowsOnLoop}`)}`);
});

function selectStates(reader: Reader, condition?: SQL) {
  const { jobs } = reader.tables;
  const isOfBuild = eq(jobs.buildId, sql.placeholder("buildId"));
  return reader
    .select({ state: jobs.state, jobs: count() })
    .from(jobs)
    .where(and(isOfBuild, isNull(jobs.retriedInJobId), condition))
    .groupBy(jobs.state)
    .orderBy(asc(jobs.state));
}
