import type { Tx } from "../../db/database.ts";
import { notFound, unavailable } from "../../refusal.ts";
import { createBatchers } from "../../runtime/batcher.ts";
import type { Services } from "../../runtime/services.ts";
import { openTurns, TurnRefused } from "../../runtime/turns.ts";
import { leasedJobStates } from "../../vocabulary.ts";
import { chunkTooLarge, deflateChunk, inflateReceived, maxChunkBytes } from "./codec.ts";
import { openLogEvents } from "./events.ts";
import { countLineFeeds } from "./lines.ts";
import {
  insertChunks,
  type JobLog,
  type LogKey,
  listLogs,
  listSequences,
  lockJobs,
  putLogs,
} from "./store.ts";

/** An attempt at a job by an agent. */
export interface LogLease extends LogKey {
  agentId: string;
  organizationId: string;
}

export interface ReceivedChunk {
  sequence: number;
  /** The offset of its first byte in the log. */
  start: number;
  body: Buffer;
  isGzip: boolean;
}

export interface LogIntake {
  /**
   * Stores a piece of a log. A repeated one changes nothing; what is beyond JOB_LOG_BYTES is dropped. Concurrent pieces
   * of an organization share a commit.
   * @throws Refusal 404 if the attempt has ended, 400, 413, 503
   */
  append(lease: LogLease, chunk: ReceivedChunk): Promise<void>;
}

/** A chunk as a transaction writes it. */
interface NewChunk {
  lease: LogLease;
  sequence: number;
  start: number;
  /** Without what is dropped. */
  size: number;
  lines: number;
  /** Gzip; empty if all of it is dropped. */
  body: Buffer;
  /** Beyond JOB_LOG_BYTES, up to the end of this chunk. */
  droppedBytes: number;
}

const maxGroupItems = 200;
const maxGroupBytes = 8 * 1024 * 1024;
/** Inflating takes a thread of four for up to 1 ms. Chunks that wait stay in memory, within the budget of bodies. */
const inflating = { maxRunning: 4, maxRunningPerOwner: 2, maxWaiting: 4000, maxWaitingPerOwner: 1500 };
const retryAfterSeconds = 5;
/** A row of a small chunk takes about as many bytes beside its body. */
export const rowBytes = 100;
/** A job may overlap its chunks, or send single bytes. */
const sparedBytes = 1024 * 1024;

export function openLogIntake(services: Services): LogIntake {
  const { db, config } = services;
  const turns = openTurns(inflating);
  const events = openLogEvents(services.events);
  const groups = createBatchers<NewChunk, boolean>(({ lease }) => lease.organizationId, {
    flush: (chunks) => db.transaction((tx) => writeChunks(tx, chunks, config.jobLogBytes)),
    maxItems: maxGroupItems,
    maxWeight: maxGroupBytes,
    weigh: ({ body }) => body.length,
  });

  return {
    async append(lease, received) {
      const chunk = await turns
        .take(lease.organizationId, () => prepare(lease, received, config.jobLogBytes))
        .catch((error) => {
          throw error instanceof TurnRefused ? unavailable(retryAfterSeconds) : error;
        });
      if (!(await groups.add(chunk))) throw notFound("running job");
      events.publish(lease.jobId);
    },
  };
}

async function prepare(lease: LogLease, received: ReceivedChunk, maxBytes: number): Promise<NewChunk> {
  const { sequence, start, isGzip } = received;
  if (!isGzip && received.body.length > maxChunkBytes) throw chunkTooLarge();
  const all = isGzip ? await inflateReceived(received.body) : received.body;
  const kept = all.subarray(0, Math.max(0, maxBytes - start));
  const isAsReceived = isGzip && kept.length === all.length;
  return {
    lease,
    sequence,
    start,
    size: kept.length,
    lines: countLineFeeds(kept),
    body: isAsReceived || kept.length === 0 ? received.body : await deflateChunk(kept),
    droppedBytes: Math.max(0, start + all.length - maxBytes),
  };
}

/** Returns false for chunks of attempts that have ended. */
async function writeChunks(tx: Tx, chunks: NewChunk[], maxBytes: number): Promise<boolean[]> {
  const jobIds = [...new Set(chunks.map(({ lease }) => lease.jobId))];
  const jobs = new Map((await lockJobs(tx, jobIds)).map((job) => [job.id, job]));
  const isLeased = chunks.map(({ lease }) => {
    const job = jobs.get(lease.jobId);
    const isOwn = job?.agentId === lease.agentId && job.attempt === lease.attempt;
    return isOwn && leasedJobStates.includes(job.state);
  });
  const leased = chunks.filter((_, index) => isLeased[index]);
  if (leased.length === 0) return isLeased;

  const places = leased.map(({ lease, sequence }) => ({ ...keyOf(lease), sequence }));
  const known = new Set((await listSequences(tx, places)).map(nameOf));
  const logs = new Map((await listLogs(tx, jobIds)).map((log) => [nameOf(log), log]));
  const changed = new Set<JobLog>();
  const added = leased.filter((chunk) => {
    const name = nameOf({ ...chunk.lease, sequence: chunk.sequence });
    if (known.has(name)) return false;
    known.add(name);
    const log = logs.get(nameOf(keyOf(chunk.lease))) ?? newLog(chunk.lease, tx.now);
    logs.set(nameOf(log), log);
    changed.add(log);
    return addToLog(log, chunk, maxBytes);
  });
  await putLogs(tx, [...changed]);
  await insertChunks(
    tx,
    added.map(({ lease, sequence, start, size, lines, body }) => ({
      ...keyOf(lease),
      ...{ sequence, start, size, lines, body },
    })),
  );
  return isLeased;
}

/** Returns false if the chunk is dropped. */
function addToLog(log: JobLog, { start, size, body, droppedBytes }: NewChunk, maxBytes: number): boolean {
  log.droppedBytes = Math.max(log.droppedBytes, droppedBytes);
  if (size === 0) return false;
  const storedBytes = log.storedBytes + body.length + rowBytes;
  if (storedBytes > 2 * maxBytes + sparedBytes) {
    log.droppedBytes = Math.max(log.droppedBytes, size);
    return false;
  }
  log.storedBytes = storedBytes;
  log.size = Math.max(log.size, start + size);
  return true;
}

function newLog({ jobId, attempt, organizationId }: LogLease, now: Date): JobLog {
  return {
    ...{ jobId, attempt, organizationId, createdAt: now },
    ...{ size: 0, storedBytes: 0, droppedBytes: 0, isCounted: false, evictedAt: null },
  };
}

function keyOf({ jobId, attempt }: LogKey): LogKey {
  return { jobId, attempt };
}

function nameOf({ jobId, attempt, sequence = "" }: LogKey & { sequence?: number | "" }): string {
  return `${jobId} ${attempt} ${sequence}`;
}
