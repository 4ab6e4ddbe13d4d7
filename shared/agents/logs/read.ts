import { Buffer } from "node:buffer";
import type { Db } from "../../db/database.ts";
import { exactSize } from "../../refusal.ts";
import { openLoopPauses } from "../../runtime/loop-pauses.ts";
import { openInflater } from "./codec.ts";
import { findStartOfChunkWith, type JobLog, listChunks } from "./store.ts";

/** A log that can be read. */
export interface ReadableLog {
  log: JobLog;
  /** More of it may come. */
  isOpen: boolean;
}

export interface LogPiece {
  /** The offset of its first byte in the log. */
  start: number;
  bytes: Buffer;
  /** A remark of ours between two bytes of the log. */
  isRemark?: true;
}

export interface ReadOptions {
  /** The first piece begins with its chunk, which has this byte or is the next one. */
  from?: number;
  below?: number;
}

const bytesAtOnce = 512 * 1024;
const minBytesTogether = 32 * 1024;
const chunksAtOnce = { min: 8, max: 1000 };

/**
 * Reads a log in order, a few chunks at a time. While more may come it ends at the first gap; afterwards a remark stands
 * for the missing bytes.
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
  for (let limit = chunksAtOnce.min; ; ) {
    const chunks = await listChunks(db, log, { start: Math.max(-1, start - 1), below, limit });
    const inflate = openInflater(chunks);
    let bytesRead = 0;
    for (const [index, chunk] of chunks.entries()) {
      await pause();
      start = chunk.start + 1;
      bytesRead += chunk.body.length;
      if (chunk.start + chunk.size <= position) continue;
      if (isFirst) position = Math.min(position, chunk.start);
      isFirst = false;
      if (chunk.start > position) {
        if (isOpen) return;
        yield remark(position, `${exactSize(chunk.start - position)} of the log did not arrive.`);
        position = chunk.start;
      }
      const bytes = await inflate(index);
      yield { start: position, bytes: bytes.subarray(position - chunk.start) };
      position = chunk.start + chunk.size;
    }
    if (chunks.length < limit) break;
    const next = Math.round((limit * bytesAtOnce) / (bytesRead + 1));
    limit = Math.min(chunksAtOnce.max, Math.max(chunksAtOnce.min, next));
  }
  if (log.droppedBytes > 0 && position < below)
    yield remark(position, "The log is larger than the limit. The rest is not kept.");
}

function remark(start: number, text: string): LogPiece {
  return { start, bytes: Buffer.from(text), isRemark: true };
}

/** Reads the bytes of a log as its job wrote them; remarks are lines of their own. Small pieces come together. */
export async function* readBytes(db: Db, readable: ReadableLog): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const { bytes, isRemark } of readLog(db, readable)) {
    const piece = isRemark ? Buffer.from(`\n[${bytes}]\n`) : bytes;
    pieces.push(piece);
    size += piece.length;
    if (size < minBytesTogether) continue;
    yield Buffer.concat(pieces);
    pieces = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(pieces);
}
