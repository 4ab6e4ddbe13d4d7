import {
  aliasedTable,
  and,
  asc,
  count,
  desc,
  eq,
  inArray,
  isNotNull,
  isNull,
  ne,
  type SQL,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db, Reader } from "../../db/database.ts";
import { type ListedRows, type ListPage, listedRows } from "../../db/list-page.ts";
import { isPostgres, prepared } from "../../db/prepared.ts";
import type { JobOptions } from "../../db/schema/builds.ts";
import type { BuildState, JobState } from "../../vocabulary.ts";
import { beginning } from "../rows/build-store.ts";
import { factColumns, firstOfStep, type Job, wholeJob } from "../rows/job-store.ts";

/** Commands have up to 64 KB. */
const maxCommandCharacters = 400;
const listedOptions = ["key", "parallel", "matrix", "group", "retry", "trigger"] as const;
/** Builds that may have waiting jobs. */
const waitingStates: BuildState[] = ["scheduled", "running", "failing"];
/** The builds of each state that are looked at. */
const maxWaitingBuilds = 50;

export interface ListedJob {
  /** A job with the beginning of its command, and few of its options. */
  job: Job;
  queue: { id: string; key: string } | null;
}

export type RetriedJob = Awaited<ReturnType<typeof listRetriedJobs>>[number];

export interface JobListFilter {
  /** Leaves out waits. Default: any. */
  states?: JobState[] | undefined;
  /** Default: either. */
  isSoft?: boolean | undefined;
  /** A part of the label or, without one, of the command, in upper or lower case. */
  name?: string | undefined;
}

/** A page of a build's jobs in the order of its steps, without those that were retried. */
export async function listJobsPage(
  db: Db,
  buildId: string,
  page: ListPage,
  { states, isSoft, name }: JobListFilter = {},
): Promise<ListedRows<ListedJob> & { total: number }> {
  const { jobs, queues } = db.tables;
  const first = firstOfStep(db);
  const isPresent = and(
    eq(jobs.buildId, buildId),
    isNull(jobs.retriedInJobId),
    states && and(inArray(jobs.state, states), ne(jobs.type, "waiter")),
    isSoft === undefined ? undefined : eq(jobs.softFailed, isSoft),
    name === undefined ? undefined : hasName(jobs, first.table, name),
  );
  const reader: Reader = name === undefined ? db : db.offLoop; // it reads long commands
  const [counted] = await reader
    .select({ total: count() })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo)
    .where(isPresent);
  const total = counted?.total ?? 0;
  const rows = await reader
    .select({
      job: { ...factColumns(db), ...briefText(jobs) },
      first: { id: first.columns.id, ...briefText(first.table) },
      queue: { id: queues.id, key: queues.key },
    })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo)
    .leftJoin(queues, eq(queues.id, jobs.queueId)) // a waiter has none
    .where(isPresent)
    .orderBy(asc(jobs.position), asc(jobs.id))
    .limit(page.limit + 1)
    .offset(page.offset);
  const cursorOf = ({ job }: ListedJob) => ({ number: job.position, id: job.id });
  const listed = rows.map(({ queue, ...stored }) => ({ job: wholeJob(stored), queue }));
  return { ...listedRows(listed, page, { total, cursorOf }), total };
}

/** Lower case is that of the database: SQLite knows ASCII only. */
function hasName(job: StepText, first: StepText, name: string): SQL {
  const pattern = `%${name.replace(/[\\%_]/g, "\\$&")}%`;
  const texts = [job.ownLabel, first.ownLabel, job.ownCommand, first.ownCommand, sql`''`];
  return sql`lower(coalesce(${sql.join(texts, sql`, `)})) like lower(${pattern}) escape '\\'`;
}

type StepText = Record<"ownLabel" | "ownCommand", SQLiteColumn>;

/** Jobs with the beginning of their command, and few of their options, by id. */
export async function listJobsById(db: Db, ids: string[]): Promise<Map<string, Job>> {
  const { jobs } = db.tables;
  if (ids.length === 0) return new Map();
  const first = firstOfStep(db);
  const rows = await db
    .select({
      job: { ...factColumns(db), ...briefText(jobs) },
      first: { id: first.columns.id, ...briefText(first.table) },
    })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo)
    .where(inArray(jobs.id, [...new Set(ids)]));
  return new Map(rows.map((row) => [row.job.id, wholeJob(row)]));
}

/** The text of a step as lists show it. */
export function briefText<Label extends SQLiteColumn>(step: StepColumns<Label>) {
  const ownCommand = beginning<string | null>(step.ownCommand, maxCommandCharacters);
  return { ownLabel: step.ownLabel, ownCommand, ownOptions: someOptions(step.ownOptions, listedOptions) };
}

interface StepColumns<Label extends SQLiteColumn> {
  ownLabel: Label;
  ownCommand: SQLiteColumn;
  ownOptions: SQLiteColumn;
}

/** Only these options: variables and plugins are among them, and may have a megabyte. */
export function someOptions(
  ownOptions: SQLiteColumn,
  names: readonly (keyof JobOptions)[],
): SQL<JobOptions | null> {
  const object = sql.raw(isPostgres(ownOptions) ? "json_build_object" : "json_object");
  const members = names.flatMap((name) => {
    const text = sql.raw(`'${name}'`);
    return [
      text,
      name === "trigger" ? triggerWithoutBuild(object, ownOptions) : sql`${ownOptions} -> ${text}`,
    ];
  });
  // Most jobs refer to no first one, and have no options of it: the text of an empty object takes a third of the read.
  const some = sql`case when ${ownOptions} is not null then ${object}(${sql.join(members, sql`, `)}) end`;
  return some.mapWith(toOptions) as SQL<JobOptions | null>;
}

/** The variables of the build that a step makes may have 64 KB. */
function triggerWithoutBuild(object: SQL, ownOptions: SQLiteColumn): SQL {
  const [trigger, async] = ["trigger", "async"].map(
    (name) => sql`${ownOptions} -> 'trigger' -> ${sql.raw(`'${name}'`)}`,
  );
  const made = sql`${object}('trigger', ${trigger}, 'async', ${async})`;
  return sql`case when ${ownOptions} -> 'trigger' is null then null else ${made} end`;
}

function toOptions(value: string | JobOptions): JobOptions {
  const options = typeof value === "string" ? JSON.parse(value) : value;
  return Object.fromEntries(Object.entries(options).filter(([, member]) => member !== null));
}

/** The retried jobs of these positions, the latest first. */
export async function listRetriedJobs(db: Db, buildId: string, positions: number[], limit: number) {
  const { jobs } = db.tables;
  if (positions.length === 0) return [];
  const { id, position, state, exitStatus, softFailed, failureReason } = jobs;
  const { retryOfJobId, retriedInJobId, retriesCount, attempt } = jobs;
  const retries = { retryOfJobId, retriedInJobId, retriesCount, attempt };
  return db
    .select({ id, position, state, exitStatus, softFailed, failureReason, ...retries })
    .from(jobs)
    .where(and(eq(jobs.buildId, buildId), isNotNull(jobs.retriedInJobId), inArray(position, positions)))
    .orderBy(desc(id))
    .limit(limit);
}

/** The queues that have scheduled jobs of the build. */
export async function listQueueIdsOfScheduled(db: Db, buildId: string): Promise<string[]> {
  const { jobs } = db.tables;
  const rows = await db
    .select({ id: jobs.queueId })
    .from(jobs)
    .where(and(eq(jobs.buildId, buildId), eq(jobs.state, "scheduled")))
    .groupBy(jobs.queueId);
  return rows.flatMap(({ id }) => id ?? []);
}

/**
 * Lists the ids of the jobs of an organization that have waited longest, at most one job of each build. Looks at the
 * oldest unfinished builds only: jobs of later builds hardly wait longer.
 */
export async function listLongestWaiting(db: Db, organizationId: string, limit: number): Promise<string[]> {
  const rows = await longestWaiting(db, { organizationId, limit });
  return rows.map(({ id }) => id);
}

const longestWaiting = prepared<{ organizationId: string; limit: number }, { id: string }, Db>((db) => {
  const { builds, jobs } = db.tables;
  const parts = waitingStates.map((state) => {
    const oldest = db
      .select({ id: builds.id })
      .from(builds)
      .where(and(eq(builds.organizationId, sql.placeholder("organizationId")), eq(builds.state, state)))
      .orderBy(asc(builds.id))
      .limit(maxWaitingBuilds)
      .as(`oldest_${state}`);
    return sql`select * from ${oldest}`;
  });
  const first = aliasedTable(jobs, "first");
  const firstOfBuild = db
    .select({ id: first.id })
    .from(first)
    .where(and(eq(first.buildId, sql`oldest.id`), eq(first.state, "scheduled")))
    .orderBy(asc(first.position))
    .limit(1);
  return db
    .select({ id: jobs.id })
    .from(sql`(${sql.join(parts, sql` union all `)}) as oldest`)
    .innerJoin(jobs, eq(jobs.id, firstOfBuild))
    .orderBy(asc(jobs.scheduledAt), asc(jobs.id))
    .limit(sql.placeholder("limit"));
});
