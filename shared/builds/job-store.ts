import { and, eq, getTableColumns, ne, type SQL, sql } from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Reader, Tx } from "../db/database.ts";
import { preparedRow } from "../db/prepared.ts";
import type { JobOptions } from "../db/schema/builds.ts";
import type { Tables } from "../db/schema.ts";
import { statusColumns } from "./exit-status-store.ts";
import { refreshPausesOf, withPauses } from "./pause-store.ts";
import { mayShareSteps } from "./shared-steps.ts";

// The text of a step is stored once for its build: by the step's first job, whose id is that of the step. Parallel and
// retried jobs refer to it, and have only their own place among the parallel ones. Jobs from before, and those that are
// made while a process of an older version may run, have the text themselves.

type Columns = Tables["jobs"]["$inferSelect"];
type OwnText = Pick<Columns, "ownLabel" | "ownCommand" | "ownOptions">;
type WideStatuses = Pick<Columns, "wideExitStatus" | "widePromisedExitStatus">;
/** A job without its step. */
export type JobFacts = Omit<Columns, keyof OwnText | keyof WideStatuses>;
/** A job with the text that it has itself. */
export type JobRow = JobFacts & OwnText;
export type Job = JobFacts & {
  label: string | null;
  /** Null: a waiter. */
  command: string | null;
  options: JobRow["ownOptions"];
};

/**
 * The command of a job that refers to another. A process of an older version does not know that, and hands it out as it
 * is: it fails in every shell, where no command would pass.
 */
export const referringCommand = "echo This job needs a newer version of the server && exit 1";

/** A job as it is stored, and the job that it refers to. */
export interface StoredJob {
  job: JobRow;
  first: OwnText | null;
}

export function factColumns(db: Reader | Tx) {
  const { ownLabel: _label, ownCommand: _command, ownOptions: _options, ...facts } = rowColumns(db);
  return facts;
}

/** The columns of a `JobRow`. */
export function rowColumns({ tables }: Reader | Tx) {
  const {
    wideExitStatus: _wide,
    widePromisedExitStatus: _promised,
    ...columns
  } = getTableColumns(tables.jobs);
  return { ...columns, ...statusColumns(tables) };
}

/** The first job of a step, to be joined to jobs that refer to it. */
export function firstOfStep({ tables: { jobs } }: Reader | Tx) {
  const table = alias(jobs, "first_of_step");
  const { id, ownLabel, ownCommand, ownOptions } = table;
  return {
    table,
    // The id comes first: drizzle takes a joined row whose first column is null for none, and a step may lack a label.
    columns: { id, ownLabel, ownCommand, ownOptions },
    isReferredTo: and(
      ne(jobs.id, jobs.stepId), // before commands are read
      eq(jobs.ownCommand, referringCommand),
      eq(id, jobs.stepId),
    ) as SQL,
  };
}

/** Jobs with their steps. `wholeJob` makes them of its rows. */
export function selectJobs<On extends Reader | Tx>(db: On) {
  const { jobs } = db.tables;
  const first = firstOfStep(db);
  return db
    .select({ job: rowColumns(db), first: first.columns })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo);
}

export function wholeJob({ job, first }: StoredJob): Job {
  const { ownLabel, ownCommand, ownOptions, ...facts } = job;
  if (!first)
    return { ...facts, label: labelOf(ownLabel, ownOptions), command: ownCommand, options: ownOptions };
  const options = first.ownOptions || ownOptions ? { ...first.ownOptions, ...ownOptions } : null;
  return { ...facts, label: labelOf(first.ownLabel, options), command: first.ownCommand, options };
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
export function isTrueByStep(
  { tables: { jobs } }: Tx,
  member: "soft_fail" | "cancel_on_build_failing",
): SQL<boolean> {
  const first = alias(jobs, "first_of_step");
  const isTrue = (ownOptions: SQLiteColumn) =>
    sql`coalesce(cast(${ownOptions} -> ${sql.raw(`'${member}'`)} as text), '') = 'true'`;
  const ofFirst = sql`exists (select 1 from ${jobs} as "first_of_step" where ${first.id} = ${jobs.stepId} and ${isTrue(first.ownOptions)})`;
  return sql`case when ${jobs.ownCommand} = ${referringCommand} then ${ofFirst} else ${isTrue(jobs.ownOptions)} end`;
}

/** @param rows all jobs of builds: their steps need not be read again */
export function wholeJobs(rows: JobRow[]): Job[] {
  const byId = new Map(rows.map((job) => [job.id, job]));
  return rows.map((job) => wholeJob({ job, first: (refers(job) && byId.get(job.stepId)) || null }));
}

function refers(job: JobRow): boolean {
  return job.ownCommand === referringCommand && isBehindFirst(job);
}

/** Jobs of a build that refer to the first one of their step. */
export async function listReferring(tx: Tx, buildId: string, limit: number): Promise<Job[]> {
  const { jobs } = tx.tables;
  const isReferring = and(ne(jobs.id, jobs.stepId), eq(jobs.ownCommand, referringCommand));
  const found = await selectJobs(tx)
    .where(and(eq(jobs.buildId, buildId), isReferring))
    .limit(limit);
  return found.map(wholeJob);
}

/** Gives a job the text of its step. */
export async function setOwnText(tx: Tx, { id, label, command, options }: Job): Promise<void> {
  const { jobs } = tx.tables;
  const text = { ownLabel: label, ownCommand: command, ownOptions: options };
  await tx.update(jobs).set(text).where(eq(jobs.id, id));
}

/**
 * Inserts jobs of builds that are new or locked, and marks those on paused queues. Stores the text of a step once, unless
 * a process of an older version may run.
 */
export async function insertJobs(tx: Tx, given: Job[]): Promise<void> {
  const jobs = await withPauses(tx, given);
  const mayRefer = jobs.some(isBehindFirst) && (await mayShareSteps(tx));
  const stored = jobs.map((job) => (mayRefer && isBehindFirst(job) ? referring(job) : withOwnText(job)));
  await tx.insertMany(tx.tables.jobs, stored);
  await refreshPausesOf(tx, jobs);
}

/** Of a new job. */
const noStatuses: WideStatuses = { wideExitStatus: null, widePromisedExitStatus: null };

/** Jobs of a matrix have texts of their own. */
function isBehindFirst({
  id,
  stepId,
  options,
}: Pick<Job, "id" | "stepId"> & { options?: JobOptions | null }): boolean {
  return id !== stepId && !options?.matrix;
}

function referring(job: Job): Columns {
  const parallel = job.options?.parallel;
  const ownOptions = parallel ? { parallel } : null;
  return { ...job, ...noStatuses, ownLabel: null, ownCommand: referringCommand, ownOptions };
}

/** Other members are not stored: to leave them out takes time. */
function withOwnText(job: Job): Columns {
  return { ...job, ...noStatuses, ownLabel: job.label, ownCommand: job.command, ownOptions: job.options };
}
