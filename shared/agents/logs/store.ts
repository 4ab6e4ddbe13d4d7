import { and, asc, desc, eq, gt, inArray, lt, lte, or, sql, sum } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { prepared } from "../../db/prepared.ts";
import type { Tables } from "../../db/schema.ts";
import { maxChunkBytes } from "./codec.ts";

export type JobLog = Tables["jobLogs"]["$inferSelect"];
export type LogChunk = Tables["jobLogChunks"]["$inferSelect"];
export type LoggedJob = Tables["jobs"]["$inferSelect"];

/** The log of one attempt at a job. */
export interface LogKey {
  jobId: string;
  attempt: number;
}

/** Agents send chunks that do not overlap. */
const maxOverlaps = 100;

/** The lock lasts until the end of the transaction, so that no attempt ends meanwhile. */
export function lockJobs(tx: Tx, ids: string[]): PromiseLike<LoggedJob[]> {
  const { jobs } = tx.tables;
  return tx.lock(jobs, inArray(jobs.id, ids), "exclusive");
}

export async function listLogs(db: Db | Tx, jobIds: string[]): Promise<JobLog[]> {
  const { jobLogs } = db.tables;
  return db
    .select()
    .from(jobLogs)
    .where(inArray(jobLogs.jobId, jobIds))
    .orderBy(asc(jobLogs.jobId), asc(jobLogs.attempt));
}

export async function findLog(db: Db | Tx, key: LogKey): Promise<JobLog | undefined> {
  const { jobLogs } = db.tables;
  const [log] = await db.select().from(jobLogs).where(isLog(jobLogs, key));
  return log;
}

/** Those of the chunks that are stored. A job's are looked up together: jobs × sequences would be many rows. */
export async function listSequences(
  tx: Tx,
  chunks: Pick<LogChunk, "jobId" | "attempt" | "sequence">[],
): Promise<Pick<LogChunk, "jobId" | "attempt" | "sequence">[]> {
  const { jobLogChunks: table } = tx.tables;
  const logs = Map.groupBy(chunks, ({ jobId, attempt }) => `${jobId} ${attempt}`);
  const ofLogs = [...logs].flatMap(([, ofLog]) => {
    const [first] = ofLog;
    const sequences = ofLog.map(({ sequence }) => sequence);
    return first ? and(isLog(table, first), inArray(table.sequence, sequences)) : [];
  });
  return tx
    .select({ jobId: table.jobId, attempt: table.attempt, sequence: table.sequence })
    .from(table)
    .where(or(...ofLogs));
}

export function insertChunks(tx: Tx, chunks: LogChunk[]): Promise<void> {
  return tx.insertMany(tx.tables.jobLogChunks, chunks);
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

const countLog = prepared<LogKey, JobLog, Tx>((tx) => {
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

/** Undefined if it is counted already, or does not exist. */
export async function countLogIfOpen(tx: Tx, key: LogKey): Promise<JobLog | undefined> {
  const [log] = await countLog(tx, { jobId: key.jobId, attempt: key.attempt });
  return log;
}

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
export async function findJobOfBuild(db: Db, buildId: string, jobId: string): Promise<LoggedJob | undefined> {
  const { jobs } = db.tables;
  const [job] = await db
    .select()
    .from(jobs)
    .where(and(eq(jobs.id, jobId), eq(jobs.buildId, buildId)));
  return job;
}

/** The logs of all attempts that have bytes. */
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

/** Deletes the first of its chunks. Returns their number and the bytes of their bodies. */
export async function deleteFirstChunks(
  tx: Tx,
  key: LogKey,
  limit: number,
): Promise<{ chunks: number; bytes: number }> {
  const { jobLogChunks: table } = tx.tables;
  const first = await tx
    .select({ sequence: table.sequence, bytes: sql`length(${table.body})`.mapWith(Number) })
    .from(table)
    .where(isLog(table, key))
    .orderBy(asc(table.sequence))
    .limit(limit);
  const last = first.at(-1);
  if (!last) return { chunks: 0, bytes: 0 };
  await tx.delete(table).where(and(isLog(table, key), lte(table.sequence, last.sequence)));
  return { chunks: first.length, bytes: first.reduce((total, { bytes }) => total + bytes, 0) };
}

export async function setEvicted(
  tx: Tx,
  key: LogKey,
  log: Pick<JobLog, "storedBytes" | "isCounted"> & { evictedAt: Date },
): Promise<void> {
  const { jobLogs } = tx.tables;
  await tx.update(jobLogs).set(log).where(isLog(jobLogs, key));
}

export type PlacedChunk = Pick<LogChunk, "sequence" | "start" | "size" | "body">;

/** The chunks that begin after `start` and before `below`, in the order of the log. */
export async function listChunks(
  db: Db,
  key: LogKey,
  { start, below, limit }: { start: number; below: number; limit: number },
): Promise<PlacedChunk[]> {
  const { jobLogChunks: table } = db.tables;
  return db
    .select({ sequence: table.sequence, start: table.start, size: table.size, body: table.body })
    .from(table)
    .where(and(isLog(table, key), gt(table.start, start), lt(table.start, below)))
    .orderBy(asc(table.start), asc(table.sequence))
    .limit(limit);
}

/** The start of the chunk that is a number of chunks before a byte. Undefined if there are fewer. */
export async function findStartOfChunkBefore(
  db: Db,
  key: LogKey,
  { before, chunks }: { before: number; chunks: number },
): Promise<number | undefined> {
  const { jobLogChunks: table } = db.tables;
  const [found] = await db
    .select({ start: table.start })
    .from(table)
    .where(and(isLog(table, key), lt(table.start, before)))
    .orderBy(desc(table.start))
    .limit(1)
    .offset(chunks - 1);
  return found?.start;
}

/** Where to begin reading for a byte: at the start of a chunk that has it. Looks at few chunks before the byte. */
export async function findStartOfChunkWith(db: Db, key: LogKey, position: number): Promise<number> {
  const { jobLogChunks: table } = db.tables;
  const before = await db
    .select({ start: table.start, size: table.size })
    .from(table)
    .where(and(isLog(table, key), lte(table.start, position), gt(table.start, position - maxChunkBytes)))
    .orderBy(desc(table.start))
    .limit(maxOverlaps);
  const starts = before.filter(({ start, size }) => start + size > position).map(({ start }) => start);
  return Math.min(position, ...starts);
}

/** Line feeds in the chunks that begin before `start`. */
export async function countLinesBefore(db: Db, key: LogKey, start: number): Promise<number> {
  const { jobLogChunks: table } = db.tables;
  const [row] = await db.offLoop
    .select({ lines: sum(table.lines).mapWith(Number) })
    .from(table)
    .where(and(isLog(table, key), lt(table.start, start)));
  return row?.lines ?? 0;
}

function isLog(table: Tables["jobLogs"] | Tables["jobLogChunks"], { jobId, attempt }: LogKey) {
  return and(eq(table.jobId, jobId), eq(table.attempt, attempt));
}
