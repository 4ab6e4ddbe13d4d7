import { isStorageFull } from "../../accounts/storage.ts";
import { isLeased } from "../../builds/rows/is-leased.ts";
import type { Tx } from "../../db/database.ts";
import type { Services } from "../../services/services.ts";
import type { Config } from "../../settings/config.ts";
import { rememberRecent } from "../../sharing/recent.ts";
import { insertChunks, listStored, listTouching } from "./chunk-store.ts";
import { byPlace, type LogLease, type NewChunk, type PlacedChunk, place } from "./place.ts";
import { joinTouching, type Range, trimStored } from "./ranges.ts";
import { type JobLog, type LogKey, listLogs, lockJobs, nameOf, putLogs } from "./store.ts";

/**
 * A range: the chunk is not stored, because the bytes around this part of it are stored already, or beyond
 * JOB_LOG_BYTES.
 */
export type Outcome = "acknowledged" | "ended" | Range;

/** The bytes of a chunk's row beside its body, about. */
export const rowBytes = 108;
/** A job may send single bytes. */
const sparedBytes = 1024 * 1024;
const maxKnownRanges = 10_000;

interface OpenLog {
  log: JobLog;
  isChanged: boolean;
  /** The longest stored range that is known. */
  known: Range | undefined;
  /** The ranges that this transaction added. */
  added: Range[];
}

interface ChunkWriter {
  /** Writes chunks in a transaction. Returns what became of each. */
  write(chunks: NewChunk[]): Promise<Outcome[]>;
  /** Returns the part of a range that may be new, or all of it if none is. */
  trimKnown(lease: LogLease, range: Range): Range;
}

/** Remembers a stored range of each log: a chunk may overlap thousands, and a running attempt loses no bytes. */
export function openChunkWriter({ db, config }: Services): ChunkWriter {
  const ranges = rememberRecent<Range>(maxKnownRanges);

  return {
    async write(chunks) {
      const { outcomes, logs } = await db.transaction((tx) => writeChunks(tx, chunks, { ranges, config }));
      for (const [name, { known }] of logs) if (known) ranges.set(name, known);
      return outcomes;
    },
    trimKnown(lease, range) {
      const known = ranges.get(nameOf(lease));
      return (known && trimStored(range, [known])) ?? range;
    },
  };
}

async function writeChunks(
  tx: Tx,
  chunks: NewChunk[],
  { ranges, config }: { ranges: Pick<ReadonlyMap<string, Range>, "get">; config: Config },
): Promise<{ outcomes: Outcome[]; logs: Map<string, OpenLog> }> {
  const outcomes = new Map<NewChunk, Outcome>();
  const leased = await listLeased(tx, chunks);
  const { sequences, logs } = await loadStored(tx, leased, ranges);
  const stored: PlacedChunk[] = [];
  const full = await listFull(tx, config, leased);
  for (const given of leased.toSorted(byPlace)) {
    outcomes.set(given, "acknowledged");
    const open = logs.get(nameOf(given.lease)) ?? openLog(newLog(given.lease, tx.now), undefined);
    const chunk = place(given, open.log);
    const sequence = nameOfChunk({ ...chunk.lease, sequence: chunk.sequence });
    if (sequences.has(sequence)) continue;
    logs.set(nameOf(chunk.lease), open);
    const maxBytes = full.has(chunk.lease.organizationId) ? 0 : config.jobLogBytes;
    addDropped(open, chunk.end - maxBytes);
    if (chunk.size === 0) continue;
    const whole = { start: chunk.start, end: chunk.start + chunk.size };
    if (whole.end > config.jobLogBytes) {
      if (whole.start < config.jobLogBytes) outcomes.set(given, { ...whole, end: config.jobLogBytes });
      continue;
    }
    const overlapping = await listOverlapping(tx, open, whole);
    const fresh = trimStored(whole, overlapping);
    const isFresh = fresh?.start === whole.start && fresh.end === whole.end;
    if (fresh && !isFresh) outcomes.set(given, fresh);
    const isStored = isFresh && addToLog(open, chunk, maxBytes);
    addKnown(open, isStored || !fresh ? whole : overlapping[0], overlapping);
    if (!isStored) continue;
    open.added.push(whole);
    stored.push(chunk);
    sequences.add(sequence);
  }
  await putLogs(
    tx,
    [...logs.values()].flatMap(({ log, isChanged }) => (isChanged ? log : [])),
  );
  await insertChunks(
    tx,
    stored.map(({ lease: { jobId, attempt }, sequence, start, size, lines, body }) => ({
      jobId,
      attempt,
      sequence,
      start,
      size,
      lines,
      body,
      arrivedAt: tx.now,
    })),
  );
  return { outcomes: chunks.map((chunk) => outcomes.get(chunk) ?? "ended"), logs };
}

/** The chunks of attempts that have not ended. */
async function listLeased(tx: Tx, chunks: NewChunk[]): Promise<NewChunk[]> {
  const jobs = new Map((await lockJobs(tx, { ids: jobIdsOf(chunks) })).map((job) => [job.id, job]));
  return chunks.filter(({ lease }) => {
    const job = jobs.get(lease.jobId);
    return job !== undefined && isLeased(job, lease);
  });
}

/** Organizations that are full: what they log is dropped, as it is beyond the limit of a log. */
async function listFull(tx: Tx, config: Config, chunks: NewChunk[]): Promise<Set<string>> {
  const full = new Set<string>();
  for (const id of new Set(chunks.map(({ lease }) => lease.organizationId)))
    if (await isStorageFull(tx, config, id)) full.add(id);
  return full;
}

async function loadStored(tx: Tx, chunks: NewChunk[], ranges: Pick<ReadonlyMap<string, Range>, "get">) {
  const sequences = new Set<string>();
  const logs = new Map<string, OpenLog>();
  if (chunks.length === 0) return { sequences, logs };
  const keys = chunks.flatMap(({ lease: { jobId, attempt }, sequence }) =>
    sequence === undefined ? [] : { jobId, attempt, sequence },
  );
  for (const key of await listStored(tx, keys)) sequences.add(nameOfChunk(key));
  for (const log of await listLogs(tx, { jobIds: jobIdsOf(chunks) }))
    logs.set(nameOf(log), openLog(log, ranges.get(nameOf(log))));
  return { sequences, logs };
}

/** Lists stored ranges of the log. Ranges that overlap the chunk are among them. */
async function listOverlapping(tx: Tx, { log, known, added }: OpenLog, whole: Range): Promise<Range[]> {
  const near = known ? [known, ...added] : added;
  const rest = trimStored(whole, near);
  if (!rest || rest.start >= log.size) return near;
  return [...near, ...(await listTouching(tx, log, rest))];
}

function addKnown(open: OpenLog, stored: Range | undefined, others: Range[]): void {
  if (!stored) return;
  const joined = joinTouching(stored, others);
  if (!open.known || lengthOf(joined) > lengthOf(open.known)) open.known = joined;
}

function addDropped(open: OpenLog, bytes: number): void {
  if (bytes <= open.log.droppedBytes) return;
  open.log.droppedBytes = bytes;
  open.isChanged = true;
}

/** Returns false if the chunk is dropped. */
function addToLog(open: OpenLog, { start, size, body }: NewChunk, maxBytes: number): boolean {
  const { log } = open;
  const storedBytes = log.storedBytes + body.length + rowBytes;
  if (maxBytes === 0 || storedBytes > 2 * maxBytes + sparedBytes) {
    addDropped(open, size);
    return false;
  }
  log.storedBytes = storedBytes;
  log.size = Math.max(log.size, start + size);
  open.isChanged = true;
  return true;
}

function openLog(log: JobLog, known: Range | undefined): OpenLog {
  return { log, isChanged: false, known, added: [] };
}

function newLog({ jobId, attempt, organizationId }: LogLease, now: Date): JobLog {
  return {
    jobId,
    attempt,
    organizationId,
    createdAt: now,
    size: 0,
    storedBytes: 0,
    droppedBytes: 0,
    isCounted: false,
    evictedAt: null,
  };
}

function jobIdsOf(chunks: NewChunk[]): string[] {
  return [...new Set(chunks.map(({ lease }) => lease.jobId))];
}

function lengthOf({ start, end }: Range): number {
  return end - start;
}

function nameOfChunk(key: LogKey & { sequence: number }): string {
  return `${nameOf(key)} ${key.sequence}`;
}
