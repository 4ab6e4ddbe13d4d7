import { and, asc, desc, eq, gt, gte, inArray, lt, lte, max, sql, sum } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { isOneOfRows, prepared } from "../../db/prepared.ts";
import type { Tables } from "../../db/schema.ts";
import { maxChunkBytes } from "./codec.ts";
import type { Range } from "./ranges.ts";
import type { LogKey } from "./store.ts";

export type LogChunk = Tables["jobLogChunks"]["$inferSelect"];

/** The limit of chunks that overlap one chunk. Chunks of agents do not overlap. */
const maxOverlaps = 100;

type ChunkKey = Pick<LogChunk, "jobId" | "attempt" | "sequence">;

const selectKeys = prepared<{ keys: [string, number, number][] }, ChunkKey, Tx>((tx) => {
  const { jobLogChunks: table } = tx.tables;
  const { jobId, attempt, sequence } = table;
  return tx
    .select({ jobId, attempt, sequence })
    .from(table)
    .where(isOneOfRows([jobId, attempt, sequence], "keys"));
});

/** Lists the given chunks that are stored. */
export function listStored(tx: Tx, keys: ChunkKey[]): PromiseLike<ChunkKey[]> {
  return selectKeys(tx, { keys: keys.map(({ jobId, attempt, sequence }) => [jobId, attempt, sequence]) });
}

const selectTouching = prepared<LogKey & Range & { limit: number }, Pick<LogChunk, "start" | "size">, Tx>(
  (tx) => {
    const { jobLogChunks: table } = tx.tables;
    const isOfAttempt = and(
      eq(table.jobId, sql.placeholder("jobId")),
      eq(table.attempt, sql.placeholder("attempt")),
    );
    const before = tx
      .select({ start: max(table.start) })
      .from(table)
      .where(and(isOfAttempt, lte(table.start, sql.placeholder("start"))));
    return tx
      .select({ start: table.start, size: table.size })
      .from(table)
      .where(
        and(
          isOfAttempt,
          gte(table.start, sql`coalesce(${before}, 0)`),
          lte(table.start, sql.placeholder("end")),
        ),
      )
      .orderBy(asc(table.start))
      .limit(sql.placeholder("limit"));
  },
);

/** Lists the first stored ranges that overlap a range or lie next to it. */
export async function listTouching(tx: Tx, { jobId, attempt }: LogKey, range: Range): Promise<Range[]> {
  const rows = await selectTouching(tx, { jobId, attempt, ...range, limit: maxOverlaps });
  const stored = rows.map(({ start, size }) => ({ start, end: start + size }));
  return stored.filter(({ end }) => end >= range.start);
}

export function insertChunks(tx: Tx, chunks: LogChunk[]): Promise<void> {
  return tx.insertMany(tx.tables.jobLogChunks, chunks);
}

/** Deletes the first chunks of a log. Returns their number and the bytes of their bodies. */
export async function deleteFirstChunks(
  tx: Tx,
  key: LogKey,
  limit: number,
): Promise<{ chunks: number; bytes: number }> {
  const { jobLogChunks: table } = tx.tables;
  const first = await tx
    .select({ sequence: table.sequence, bytes: sql`length(${table.body})`.mapWith(Number) })
    .from(table)
    .where(isOfLog(table, key))
    .orderBy(asc(table.sequence))
    .limit(limit);
  const last = first.at(-1);
  if (!last) return { chunks: 0, bytes: 0 };
  await tx.delete(table).where(and(isOfLog(table, key), lte(table.sequence, last.sequence)));
  return { chunks: first.length, bytes: first.reduce((total, { bytes }) => total + bytes, 0) };
}

export interface ChunkSpan extends Pick<LogChunk, "sequence" | "start" | "size"> {
  /** The size of the body. */
  bytes: number;
}

/**
 * The chunks that begin after `start` and before `below`, in the order of the log. Of chunks with one start the longest
 * is first.
 */
export async function listChunks(
  db: Db,
  key: LogKey,
  { start, below, limit }: { start: number; below: number; limit: number },
): Promise<ChunkSpan[]> {
  const { jobLogChunks: table } = db.tables;
  const bytes = sql`length(${table.body})`.mapWith(Number); // does not read the body
  return db
    .select({ sequence: table.sequence, start: table.start, size: table.size, bytes })
    .from(table)
    .where(and(isOfLog(table, key), gt(table.start, start), lt(table.start, below)))
    .orderBy(asc(table.start), desc(table.size))
    .limit(limit);
}

/** The longest range at each start after `start`, in the order of the log. Needs the index alone. */
export async function listRanges(
  db: Db,
  key: LogKey,
  { start, limit }: { start: number; limit: number },
): Promise<Range[]> {
  const { jobLogChunks: table } = db.tables;
  const end = sql`${table.start} + max(${table.size})`.mapWith(Number);
  return db
    .select({ start: table.start, end })
    .from(table)
    .where(and(isOfLog(table, key), gt(table.start, start)))
    .groupBy(table.start)
    .orderBy(asc(table.start))
    .limit(limit);
}

export type ChunkBody = Pick<LogChunk, "body" | "arrivedAt">;

/** The bodies of chunks by their sequence, and what is stored after them. Evicted ones are missing. */
export async function loadBodies(db: Db, key: LogKey, sequences: number[]): Promise<Map<number, ChunkBody>> {
  const { jobLogChunks: table } = db.tables;
  const rows = await db
    .select({ sequence: table.sequence, body: table.body, arrivedAt: table.arrivedAt })
    .from(table)
    .where(and(isOfLog(table, key), inArray(table.sequence, sequences)));
  return new Map(rows.map(({ sequence, ...rest }) => [sequence, rest]));
}

/** Goes back a number of chunks from a byte. Returns the start of the chunk; undefined if the log has fewer. */
export async function findStartOfChunkBefore(
  db: Db,
  key: LogKey,
  { before, chunks }: { before: number; chunks: number },
): Promise<number | undefined> {
  const { jobLogChunks: table } = db.tables;
  const [found] = await db
    .select({ start: table.start })
    .from(table)
    .where(and(isOfLog(table, key), lt(table.start, before)))
    .orderBy(desc(table.start))
    .limit(1)
    .offset(chunks - 1);
  return found?.start;
}

/** Returns the start of a chunk that has the byte: reading begins there. Looks at few chunks before the byte. */
export async function findStartOfChunkWith(db: Db, key: LogKey, position: number): Promise<number> {
  const { jobLogChunks: table } = db.tables;
  const before = await db
    .select({ start: table.start, size: table.size })
    .from(table)
    .where(and(isOfLog(table, key), lte(table.start, position), gt(table.start, position - maxChunkBytes)))
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
    .where(and(isOfLog(table, key), lt(table.start, start)));
  return row?.lines ?? 0;
}

/** Finds the chunk that has a log's line feed of this number, and counts the line feeds before that chunk. */
export async function findChunkWithLineFeed(
  db: Db,
  key: LogKey,
  number: number,
): Promise<{ start: number; linesBefore: number } | undefined> {
  const { jobLogChunks: table } = db.tables;
  const totals = db.offLoop
    .select({
      start: table.start,
      lines: table.lines,
      total: sql`sum(${table.lines}) over (order by ${table.start})`.mapWith(Number).as("total"),
    })
    .from(table)
    .where(isOfLog(table, key))
    .as("totals");
  const [found] = await db.offLoop
    .select()
    .from(totals)
    .where(gte(totals.total, number))
    .orderBy(asc(totals.start))
    .limit(1);
  return found && { start: found.start, linesBefore: found.total - found.lines };
}

function isOfLog(table: Tables["jobLogChunks"], { jobId, attempt }: LogKey) {
  return and(eq(table.jobId, jobId), eq(table.attempt, attempt));
}
