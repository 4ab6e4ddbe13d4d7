import { and, eq, getTableColumns, inArray, isNull, ne, type SQL, sql } from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Reader, Tx } from "../../db/database.ts";
import { preparedRow } from "../../db/prepared.ts";
import type { Tables } from "../../db/schema.ts";
import { refreshPausesOf, withPauses } from "./pause-store.ts";

// The text of a step is stored once for its build: by the step's first job, whose id is that of the step. Parallel and
// retried jobs refer to it, and have only their own place among the parallel ones. Jobs of a matrix have texts of their
// own.

type Columns = Tables["jobs"]["$inferSelect"];
type OwnText = Pick<Columns, "ownLabel" | "ownCommand" | "ownOptions">;
/** A job without its step. */
export type JobFacts = Omit<Columns, keyof OwnText>;
/** A job with the text that it has itself. */
export type JobRow = Columns;
export type Job = JobFacts & {
  label: string | null;
  /** Null: a waiter. */
  command: string | null;
  options: JobRow["ownOptions"];
};

/** A job as it is stored, and the job that it refers to. */
export interface StoredJob {
  job: JobRow;
  first: OwnText | null;
}

export function factColumns({ tables: { jobs } }: Reader | Tx) {
  const { ownLabel: _label, ownCommand: _command, ownOptions: _options, ...facts } = getTableColumns(jobs);
  return facts;
}

/** Finds jobs that refer to the first one of their step. */
export function isReferring({ tables: { jobs } }: Reader | Tx): SQL {
  return and(ne(jobs.id, jobs.stepId), isNull(jobs.ownCommand)) as SQL; // the ids before commands are read
}

/** The first job of a step, to be joined to jobs that refer to it. */
export function firstOfStep(db: Reader | Tx) {
  const { jobs } = db.tables;
  const table = alias(jobs, "first_of_step");
  const { id, ownLabel, ownCommand, ownOptions } = table;
  return {
    table,
    // The id comes first: drizzle takes a joined row whose first column is null for none, and a step may lack a label.
    columns: { id, ownLabel, ownCommand, ownOptions },
    isReferredTo: and(isReferring(db), eq(id, jobs.stepId)) as SQL,
  };
}

/** Jobs with their steps. `wholeJob` makes them of its rows. */
export function selectJobs<On extends Reader | Tx>(db: On) {
  const { jobs } = db.tables;
  const first = firstOfStep(db);
  return db.select({ job: jobs, first: first.columns }).from(jobs).leftJoin(first.table, first.isReferredTo);
}

/**
 * Adds the text of its step to a job: to copy its forty members takes twice as long. `Object.assign` would make a hash
 * table of it, of 3 KB.
 */
export function wholeJob({ job, first }: StoredJob): Job {
  const { ownOptions } = job;
  const { ownLabel, ownCommand } = first ?? job;
  const isMerged = first && (first.ownOptions || ownOptions);
  const options = isMerged ? { ...first.ownOptions, ...ownOptions } : ownOptions;
  const whole = job as JobRow & Job;
  whole.label = labelOf(ownLabel, options);
  whole.command = ownCommand;
  whole.options = options;
  return whole;
}

export async function listJobsById(tx: Tx, ids: string[]): Promise<Map<string, Job>> {
  if (ids.length === 0) return new Map();
  const found = await selectJobs(tx).where(inArray(tx.tables.jobs.id, ids));
  return new Map(found.map((row) => [row.job.id, wholeJob(row)]));
}

/** Labels of parallel jobs may name their place: `%n` from 0, `%N` from 1, `%t` and `%T` the number of jobs. */
function labelOf(label: string | null, options: JobRow["ownOptions"]): string | null {
  const parallel = options?.parallel;
  if (!parallel || !label?.includes("%")) return label;
  const { index, total } = parallel;
  const values: Record<string, number> = { "%n": index, "%N": index + 1, "%t": total, "%T": total };
  return label.replace(/%[nNtT]/g, (token) => String(values[token]));
}

/** A job that a statement returned. */
export async function completeJob(tx: Tx, row: JobRow): Promise<Job> {
  const first = refers(row) ? await textOfStep(tx, { id: row.stepId }) : undefined;
  return wholeJob({ job: row, first: first ?? null });
}

const textOfStep = preparedRow<{ id: string }, OwnText, Tx>((tx) => {
  const { jobs } = tx.tables;
  const { id, ownLabel, ownCommand, ownOptions } = jobs;
  const ofStep = tx.select({ ownLabel, ownCommand, ownOptions }).from(jobs);
  return ofStep.where(eq(id, sql.placeholder("id")));
});

/** Says in an update of jobs whether a member of their step is true. */
export function isTrueByStep(tx: Tx, member: "soft_fail" | "cancel_on_build_failing"): SQL<boolean> {
  const { jobs } = tx.tables;
  const first = alias(jobs, "first_of_step");
  const isTrue = (ownOptions: SQLiteColumn) =>
    sql`coalesce(cast(${ownOptions} -> ${sql.raw(`'${member}'`)} as text), '') = 'true'`;
  const ofFirst = sql`exists (select 1 from ${jobs} as "first_of_step" where ${first.id} = ${jobs.stepId} and ${isTrue(first.ownOptions)})`;
  return sql`case when ${isReferring(tx)} then ${ofFirst} else ${isTrue(jobs.ownOptions)} end`;
}

/** @param rows all jobs of builds: their steps need not be read again */
export function wholeJobs(rows: JobRow[]): Job[] {
  const byId = new Map(rows.map((job) => [job.id, job]));
  return rows.map((job) => wholeJob({ job, first: (refers(job) && byId.get(job.stepId)) || null }));
}

function refers(job: JobRow): boolean {
  return job.id !== job.stepId && job.ownCommand === null;
}

/** Inserts jobs of builds that are new or locked, and marks those on paused queues. Stores the text of a step once. */
export async function insertJobs(tx: Tx, given: Job[]): Promise<void> {
  const jobs = await withPauses(tx, given);
  const stored = jobs.map((job) => (isBehindFirst(job) ? referring(job) : withOwnText(job)));
  await tx.insertMany(tx.tables.jobs, stored);
  await refreshPausesOf(tx, jobs);
}

function isBehindFirst({ id, stepId, options }: Job): boolean {
  return id !== stepId && !options?.matrix;
}

function referring(job: Job): Columns {
  const parallel = job.options?.parallel;
  const ownOptions = parallel ? { parallel } : null;
  return { ...job, ownLabel: null, ownCommand: null, ownOptions };
}

/** Other members are not stored: to leave them out takes time. */
function withOwnText(job: Job): Columns {
  return { ...job, ownLabel: job.label, ownCommand: job.command, ownOptions: job.options };
}
