import { Buffer } from "node:buffer";
import type { Db } from "../../db/database.ts";
import { openLoopPauses } from "../../process/loop-pauses.ts";
import { exactSize } from "../../refusal.ts";
import {
  type ChunkBody,
  type ChunkSpan,
  findStartOfChunkWith,
  listChunks,
  loadBodies,
} from "./chunk-store.ts";
import { openInflater } from "./codec.ts";
import type { JobLog } from "./store.ts";

/** A log that can be read. */
export interface ReadableLog {
  log: JobLog;
  /** The job may still write. */
  isOpen: boolean;
}

export interface LogPiece {
  /** The offset of its first byte in the log. */
  start: number;
  bytes: Buffer;
  /** Milliseconds since 1970. */
  arrivedAt?: number | undefined;
  /** A remark of ours between two bytes of the log. */
  isRemark?: true;
}

export interface ReadOptions {
  /** The first piece begins with its chunk, which has this byte or is the next one. */
  from?: number;
  below?: number;
}

const chunksAtOnce = { min: 8, max: 1000 };
/** The limit of bodies that are loaded together. */
const bytesAtOnce = 512 * 1024;
const bytesTogether = 32 * 1024;

/**
 * Reads a log in order, a few chunks at a time. While more may come it ends at the first gap; afterwards a remark stands
 * for the missing bytes. A piece keeps at most about twice its own bytes in memory.
 * @throws Error when the stored bytes are damaged
 */
export async function* readLog(
  db: Db,
  { log, isOpen }: ReadableLog,
  { from = 0, below = Number.MAX_SAFE_INTEGER }: ReadOptions = {},
): AsyncGenerator<LogPiece> {
  let position = from;
  let start = from > 0 ? await findStartOfChunkWith(db, log, from) : 0;
  let isFirst = from > 0;
  const pause = openLoopPauses();
  for (let limit = chunksAtOnce.min; ; limit = Math.min(4 * limit, chunksAtOnce.max)) {
    const chunks = await listChunks(db, log, { start: Math.max(-1, start - 1), below, limit });
    for (const together of batchUncovered(chunks, position)) {
      const loaded = await loadChunks(db, log, together);
      const inflate = openInflater(loaded);
      for (const [index, chunk] of loaded.entries()) {
        await pause();
        if (isFirst) position = Math.min(position, chunk.start);
        isFirst = false;
        if (chunk.start > position) {
          if (isOpen) return;
          yield remark(position, gapRemark(chunk.start - position));
          position = chunk.start;
        }
        const bytes = await inflate(index);
        const arrivedAt = chunk.arrivedAt?.getTime();
        yield { start: position, bytes: cut(bytes, position - chunk.start), arrivedAt };
        position = chunk.start + chunk.size;
      }
      if (loaded.length < together.length) return; // the log is being deleted
    }
    start = (chunks.at(-1)?.start ?? 0) + 1;
    if (chunks.length < limit) break;
  }
  if (log.droppedBytes > 0 && position < below) yield remark(position, lastRemark);
}

/** Stands at the end of a log of which bytes were dropped. */
export const lastRemark =
  "The log, or all that its organization stores, is larger than the limit. The rest is not kept.";

/** Stands for missing bytes. */
export function gapRemark(bytes: number): string {
  return `${exactSize(bytes)} of the log did not arrive.`;
}

/** The chunks with bytes from a position on, in batches that are loaded together. */
function* batchUncovered(chunks: ChunkSpan[], position: number): Generator<ChunkSpan[]> {
  let batch: ChunkSpan[] = [];
  let bytes = 0;
  let end = position;
  for (const chunk of chunks) {
    if (chunk.start + chunk.size <= end) continue;
    end = chunk.start + chunk.size;
    if (bytes + chunk.bytes > bytesAtOnce && batch.length > 0) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(chunk);
    bytes += chunk.bytes;
  }
  if (batch.length > 0) yield batch;
}

/** Loads chunks up to the first whose body is missing. */
async function loadChunks(db: Db, log: JobLog, chunks: ChunkSpan[]) {
  const bodies = await loadBodies(
    db,
    log,
    chunks.map(({ sequence }) => sequence),
  );
  const end = chunks.findIndex(({ sequence }) => !bodies.has(sequence));
  const found = end === -1 ? chunks : chunks.slice(0, end);
  return found.map((chunk) => ({ ...chunk, ...(bodies.get(chunk.sequence) as ChunkBody) }));
}

/** A slice keeps all of its buffer in memory, so a short one is copied. */
function cut(bytes: Buffer, start: number): Buffer {
  const rest = bytes.subarray(start);
  return rest.length < bytes.length / 2 ? Buffer.from(rest) : rest;
}

function remark(start: number, text: string): LogPiece {
  return { start, bytes: Buffer.from(text), isRemark: true };
}

export function textOfRemark(remark: string): string {
  return `\n[${remark}]\n`;
}

/**
 * Reads the bytes of a log, from one on, as its job wrote them; remarks are lines of their own. Small pieces come
 * together.
 */
export async function* readBytes(db: Db, readable: ReadableLog, from = 0): AsyncGenerator<Buffer> {
  let together = Buffer.allocUnsafe(bytesTogether);
  let size = 0;
  for await (const { start, bytes, isRemark } of readLog(db, readable, { from })) {
    const piece = isRemark
      ? Buffer.from(textOfRemark(String(bytes)))
      : bytes.subarray(Math.max(0, from - start));
    if (size > 0 && size + piece.length > bytesTogether) {
      yield together.subarray(0, size);
      together = Buffer.allocUnsafe(bytesTogether);
      size = 0;
    }
    if (piece.length >= bytesTogether) yield piece;
    else size += piece.copy(together, size);
  }
  if (size > 0) yield together.subarray(0, size);
}
