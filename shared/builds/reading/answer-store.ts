import { and, asc, count, eq, inArray, isNull, or, type SQL, sql, sum } from "drizzle-orm";
import type { Db, Reader } from "../../db/database.ts";
import { countUpTo, selectCountUpTo } from "../../db/list-page.ts";
import { isOneOf, prepared, preparedRow } from "../../db/prepared.ts";
import { jobStates as allJobStates, type JobState } from "../../vocabulary.ts";
import { factColumns, firstOfStep, type Job, selectJobs, wholeJob } from "../job-store.ts";
import { sizeOfStep } from "../store.ts";
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
  withRetried: 0 | 1;
}

function filterValues({ hasRetriedJobs = false, jobStates = [...allJobStates] }: AnsweredJobs): FilterValues {
  return { jobStates, withRetried: hasRetriedJobs ? 1 : 0 };
}

/** Like `isAnswered`, for prepared queries: they take the filter as FilterValues. */
function passesFilter({ tables: { jobs } }: Reader): SQL | undefined {
  return and(
    isOneOf(jobs.state, "jobStates"),
    or(isNull(jobs.retriedInJobId), sql`${sql.placeholder("withRetried")} = 1`),
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
  const found = few.some(({ jobs }) => jobs === null) ? await inTurn(async () => offLoop(db, given)) : few;
  return new Map(found.map(({ id, jobs, bytes }) => [id, { jobs: jobs ?? 0, bytes: bytes ?? 0 }]));
}

/** Null: there are too many rows to measure them on the event loop. */
type SizeOfBuild = { id: string } & Record<keyof AnswerSize, number | null>;
type Measured = { ids: string[] } & FilterValues;

const withJobs = sizesOf(true);
const withoutJobs = sizesOf(false);

function sizesOf(hasJobs: boolean) {
  const ifFew = (db: Db) => {
    const { jobs, metaData } = db.tables;
    const countOf = (table: typeof jobs | typeof metaData) =>
      selectCountUpTo(db, table, isOneOf(table.buildId, "ids"), maxRowsOnLoop);
    const rows = hasJobs ? sql`(${countOf(jobs)}) + (${countOf(metaData)})` : sql`(${countOf(metaData)})`;
    return (size: SQL) => sql`case when ${rows} < ${sql.raw(`${maxRowsOnLoop}`)} then ${size} end`;
  };
  return {
    onLoop: prepared<Measured, SizeOfBuild, Db>((db) => selectSizes(db, hasJobs, ifFew(db))),
    offLoop: prepared<Measured, SizeOfBuild, Db>(({ offLoop }) => selectSizes(offLoop, hasJobs)),
  };
}

/** @param limit makes a size null, without reading what it measures */
function selectSizes(reader: Reader, hasJobs: boolean, limit = (size: SQL) => size) {
  const { builds, jobs, metaData } = reader.tables;
  const first = firstOfStep(reader);
  const isOfBuild = and(eq(jobs.buildId, builds.id), passesFilter(reader));
  const ofSteps = reader
    .select({ bytes: sum(sizeOfStep(reader)) })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo)
    .where(isOfBuild);
  const ofMetaData = reader
    .select({ bytes: sum(sql`octet_length(${metaData.key}) + octet_length(${metaData.value})`) })
    .from(metaData)
    .where(eq(metaData.buildId, builds.id));
  const number = reader.select({ jobs: count() }).from(jobs).where(isOfBuild);
  const texts = [sql`octet_length(${builds.environmentSealed})`, sql`(${ofMetaData})`];
  if (hasJobs) texts.push(sql`(${ofSteps})`);
  const bytes = sql.join(
    texts.map((text) => sql`coalesce(${text}, 0)`),
    sql` + `,
  );
  const columns = {
    id: builds.id,
    jobs: limit(hasJobs ? sql`(${number})` : sql`0`).mapWith(Number),
    bytes: limit(bytes).mapWith(Number),
  };
  return reader.select(columns).from(builds).where(isOneOf(builds.id, "ids"));
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
  return rows.map(({ queue, ...stored }) => ({ job: wholeJob(stored), queue }));
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
  const { jobs } = db.tables;
  const rows = await countUpTo(db, jobs, eq(jobs.buildId, buildId), maxRowsOnLoop);
  const reader = rows < maxRowsOnLoop ? db : db.offLoop;
  return reader
    .select({ state: jobs.state, jobs: count() })
    .from(jobs)
    .where(and(eq(jobs.buildId, buildId), isNull(jobs.retriedInJobId)))
    .groupBy(jobs.state)
    .orderBy(asc(jobs.state));
}
