import { and, asc, eq, gt, inArray, sql } from "drizzle-orm";
import { type Job, selectJobs, wholeJob } from "../../builds/rows/job-store.ts";
import type { Db, Tx } from "../../db/database.ts";
import { isOneOf, prepared, preparedRow } from "../../db/prepared.ts";
import { findRow } from "../../db/rows.ts";
import type { Tables } from "../../db/schema.ts";

export type JobLog = Tables["jobLogs"]["$inferSelect"];

/** The log of one attempt at a job. */
export interface LogKey {
  jobId: string;
  attempt: number;
}

export function nameOf({ jobId, attempt }: LogKey): string {
  return `${jobId} ${attempt}`;
}

type LockedJob = Tables["jobs"]["$inferSelect"];

/** The lock lasts until the end of the transaction, so that no attempt ends meanwhile. */
export const lockJobs = prepared<{ ids: string[] }, LockedJob, Tx>((tx) => {
  const { jobs } = tx.tables;
  return tx.lock(jobs, isOneOf(jobs.id, "ids"), "exclusive");
});

/** By job and attempt, the first one first. */
export const listLogs = prepared<{ jobIds: string[] }, JobLog>((db) => {
  const { jobLogs } = db.tables;
  return db
    .select()
    .from(jobLogs)
    .where(isOneOf(jobLogs.jobId, "jobIds"))
    .orderBy(asc(jobLogs.jobId), asc(jobLogs.attempt));
});

export function findLog(db: Db | Tx, key: LogKey): Promise<JobLog | undefined> {
  const { jobLogs } = db.tables;
  return findRow(db, jobLogs, isLog(jobLogs, key));
}

export async function putLogs(tx: Tx, logs: JobLog[]): Promise<void> {
  const { jobLogs } = tx.tables;
  if (logs.length === 0) return;
  await tx
    .insert(jobLogs)
    .values(logs)
    .onConflictDoUpdate({
      target: [jobLogs.jobId, jobLogs.attempt],
      set: {
        size: sql`excluded.size`,
        storedBytes: sql`excluded.stored_bytes`,
        droppedBytes: sql`excluded.dropped_bytes`,
      },
    });
}

/** Undefined if it is counted already, or does not exist. */
export const countLogIfOpen = preparedRow<LogKey, JobLog, Tx>((tx) => {
  const { jobLogs } = tx.tables;
  const isOfAttempt = and(
    eq(jobLogs.jobId, sql.placeholder("jobId")),
    eq(jobLogs.attempt, sql.placeholder("attempt")),
  );
  return tx
    .update(jobLogs)
    .set({ isCounted: true })
    .where(and(isOfAttempt, eq(jobLogs.isCounted, false)))
    .returning();
});

/** The logs of an organization, oldest first, without evicted ones. */
export async function listOldestLogs(tx: Tx, organizationId: string, limit: number): Promise<JobLog[]> {
  const { jobLogs } = tx.tables;
  return tx
    .select()
    .from(jobLogs)
    .where(and(eq(jobLogs.organizationId, organizationId), sql`${jobLogs.isCounted}`))
    .orderBy(asc(jobLogs.createdAt))
    .limit(limit);
}

/** Undefined also for a job of another build. */
export async function findJobOfBuild(db: Db, buildId: string, jobId: string): Promise<Job | undefined> {
  const { jobs } = db.tables;
  const [found] = await selectJobs(db).where(and(eq(jobs.id, jobId), eq(jobs.buildId, buildId)));
  return found && wholeJob(found);
}

/** Lists the logs of a job's attempts that have bytes. */
export async function listLogsOfJob(tx: Tx, jobId: string): Promise<JobLog[]> {
  const { jobLogs } = tx.tables;
  return tx
    .select()
    .from(jobLogs)
    .where(and(eq(jobLogs.jobId, jobId), gt(jobLogs.storedBytes, 0)));
}

/** Logs of builds that have bytes. */
export async function listLogsOfBuilds(tx: Tx, buildIds: string[], limit: number): Promise<JobLog[]> {
  const { jobs, jobLogs } = tx.tables;
  const rows = await tx
    .select({ log: jobLogs })
    .from(jobs)
    .innerJoin(jobLogs, eq(jobLogs.jobId, jobs.id))
    .where(and(inArray(jobs.buildId, buildIds), gt(jobLogs.storedBytes, 0)))
    .limit(limit);
  return rows.map(({ log }) => log);
}

export async function setEvicted(
  tx: Tx,
  key: LogKey,
  log: Pick<JobLog, "storedBytes" | "isCounted"> & { evictedAt: Date },
): Promise<void> {
  const { jobLogs } = tx.tables;
  await tx.update(jobLogs).set(log).where(isLog(jobLogs, key));
}

function isLog(table: Tables["jobLogs"], { jobId, attempt }: LogKey) {
  return and(eq(table.jobId, jobId), eq(table.attempt, attempt));
}
