import { Buffer } from "node:buffer";
import type { InTurn } from "../../builds/reading/answer-store.ts";
import type { Db } from "../../db/database.ts";
import { listRanges } from "./chunk-store.ts";
import type { Range } from "./ranges.ts";
import { gapRemark, lastRemark, type ReadableLog, readBytes, textOfRemark } from "./read.ts";

// The text of a log: its bytes, with a line for bytes that are missing.

export interface LogText {
  /** Bytes of all of it now; more may come. */
  length: number;
  /** Until here the places of bytes are those in the log. */
  firstRemark: number;
}

/** SQLite reads them in a millisecond. */
const rangesAtOnce = 1000;

/**
 * Measures the text without reading it.
 * @param inTurn runs each of the reads: a log may have a million chunks
 */
export async function measureText(db: Db, { log, isOpen }: ReadableLog, inTurn: InTurn): Promise<LogText> {
  const text: LogText = { length: 0, firstRemark: Number.POSITIVE_INFINITY };
  const addRemark = (remark: string) => {
    text.firstRemark = Math.min(text.firstRemark, text.length);
    text.length += Buffer.byteLength(textOfRemark(remark));
  };
  let position = 0;
  for (let after = -1, isRead = false; !isRead; ) {
    const start = after;
    const ranges = await inTurn(() => listRanges(db, log, { start, limit: rangesAtOnce }));
    for (const { start, end } of ranges) {
      if (start > position) {
        if (isOpen) return text;
        addRemark(gapRemark(start - position));
        position = start;
      }
      const added = Math.max(0, end - position);
      text.length += added;
      position += added;
    }
    after = ranges.at(-1)?.start ?? after;
    isRead = ranges.length < rangesAtOnce;
  }
  if (log.droppedBytes > 0) addRemark(lastRemark);
  return text;
}

/** Reads a part of the text. */
export async function* readText(
  db: Db,
  readable: ReadableLog,
  { firstRemark }: LogText,
  { start, end }: Range,
): AsyncGenerator<Buffer> {
  let position = start < firstRemark ? start : 0;
  for await (const piece of readBytes(db, readable, position)) {
    const part = piece.subarray(Math.max(0, start - position), end - position);
    if (part.length > 0) yield part;
    position += piece.length;
    if (position >= end) return;
  }
}
