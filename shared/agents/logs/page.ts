import type { Db } from "../../db/database.ts";
import { openLoopPauses } from "../../process/loop-pauses.ts";
import { openSlices } from "../../sharing/resources.ts";
import { countLinesBefore, findChunkWithLineFeed, findStartOfChunkBefore } from "./chunk-store.ts";
import { countLineFeeds, endOfLines, LineSplitter, type RawLine, startOfLead } from "./lines.ts";
import { type LogLine, LogParser } from "./parse.ts";
import { type LogPiece, type ReadableLog, readLog } from "./read.ts";
import { costOfTexts, lineCost } from "./row.ts";
import { screenRows } from "./screen.ts";

/** Some lines of a log. */
export interface LogPage {
  lines: LogLine[];
  /** The first byte of its first line. */
  start: number;
  /** Where the next page begins: the incomplete last line of an open log is in both. */
  end: number;
  isLast: boolean;
}

/** A page is at most about this long in HTML, unless a single line is longer. */
const maxPageCost = 200 * 1024;
/** The bytes of a log that are read for a page, at most. */
const maxPageBytes = 256 * 1024;
/** Enough for a page of short lines. */
const shortWindowBytes = 48 * 1024;
/** Bytes that are read before a page: their colors may last. */
const contextBytes = 16 * 1024;
/** Jobs may send single bytes. */
const maxPageChunks = 2000;
const maxContextChunks = 100;
/** The limit of lines of a page: each costs at least `lineCost`. */
const maxPageLines = Math.ceil(maxPageCost / lineCost);
const linesAtOnce = 500;
/** Full of colors, as much takes 10 ms. */
const parsedAtOnce = 16 * 1024;
/** The time that a line takes beside its bytes, as bytes. */
const parsedLineCost = 64;

/** The lines from a byte on, which begins a line. */
export async function readPageFrom(db: Db, readable: ReadableLog, from: number): Promise<LogPage> {
  const reader = await openPage(db, readable, from);
  const { parser } = reader;
  let last: RawLine | undefined;
  for await (const batch of reader.lines()) {
    for (const read of batch) {
      const { raw } = read;
      const isFull = raw.end - from > maxPageBytes || reader.chunksRead() > maxPageChunks;
      if (last && (isFull || parser.cost + lineCost + raw.bytes.length > maxPageCost))
        return { lines: parser.end(), start: from, end: raw.start, isLast: false };
      await reader.write(read);
      last = raw;
      if (isFull && !raw.isComplete) return { lines: parser.end(), start: from, end: raw.end, isLast: false };
    }
  }
  return { lines: parser.end(), start: from, end: endOfLast(last, readable) ?? from, isLast: true };
}

/** A page that begins with a line, or a little before it. The last page if the log has no such line. */
export async function readPageOfLine(db: Db, readable: ReadableLog, number: number): Promise<LogPage> {
  const start = number > 1 ? await findStartBeforeLine(db, readable, number) : 0;
  return start === undefined || start >= readable.log.size
    ? readPageBefore(db, readable)
    : readPageFrom(db, readable, start);
}

/** The start of a line, or of one before it in its chunk. */
async function findStartBeforeLine(
  db: Db,
  readable: ReadableLog,
  number: number,
): Promise<number | undefined> {
  const chunk = await findChunkWithLineFeed(db, readable.log, number - 1);
  if (!chunk) return undefined;
  for await (const { start, bytes, isRemark } of readLog(db, readable, { from: chunk.start })) {
    if (isRemark) continue;
    const rest = bytes.subarray(Math.max(0, chunk.start - start));
    const end = endOfLines(rest, number - 1 - chunk.linesBefore);
    return start + bytes.length - rest.length + startOfLead(rest, end, chunk.start === 0);
  }
  return undefined; // the log is being deleted
}

/** The last lines that are in so many bytes. */
export function readLastLines(db: Db, readable: ReadableLog, bytes: number): Promise<LogPage> {
  return readWindow(db, readable, { before: undefined, bytes });
}

/** The lines before a byte, which begins a line; the last ones by default. */
export async function readPageBefore(db: Db, readable: ReadableLog, before?: number): Promise<LogPage> {
  const page = await readWindow(db, readable, { before, bytes: shortWindowBytes });
  const cost = page.lines.reduce((sum, { texts }) => sum + costOfTexts(texts), 0);
  if (page.start === 0 || cost > maxPageCost / 2) return page;
  return readWindow(db, readable, { before, bytes: maxPageBytes });
}

async function readWindow(
  db: Db,
  readable: ReadableLog,
  { before, bytes }: { before: number | undefined; bytes: number },
): Promise<LogPage> {
  const end = before ?? readable.log.size;
  const chunks = { before: end, chunks: maxPageChunks };
  const from = Math.max(0, end - bytes, (await findStartOfChunkBefore(db, readable.log, chunks)) ?? 0);
  const reader = await openPage(db, readable, from);
  const { parser } = reader;
  const read: ReadLine[] = [];
  let isWithinLine = from > 0;
  for await (const batch of reader.lines(before))
    for (const line of batch) {
      if (!isWithinLine || line.raw.isRemark) read.push(line);
      if (isWithinLine && read.length === 0 && line.raw.end >= end) read.push(line); // all of it is one line
      isWithinLine = false;
    }
  if (read.length === 0 && from > 0 && before === undefined) return readPageFrom(db, readable, 0); // a gap came
  const shown = read.slice(-maxPageLines);
  if (shown.length < read.length) {
    for (const { raw } of read.slice(0, -maxPageLines - screenRows)) await reader.skip(raw);
    for (const line of read.slice(-maxPageLines - screenRows, -maxPageLines)) await reader.write(line);
    parser.beginPage();
  }
  for (const line of shown) await reader.write(line);
  const lines = lastThatFit(parser.end());
  const start = Math.max(lines[0]?.start ?? from, shown[0]?.raw.start ?? from);
  const isLast = before === undefined;
  return { lines, start, end: isLast ? (endOfLast(shown.at(-1)?.raw, readable) ?? from) : end, isLast };
}

function lastThatFit(lines: LogLine[]): LogLine[] {
  let cost = 0;
  const first = lines.findLastIndex((line) => {
    cost += costOfTexts(line.texts);
    return cost > maxPageCost;
  });
  return lines.slice(Math.min(first + 1, Math.max(0, lines.length - 1)));
}

/** The end of the last line, or its start if it may grow. */
function endOfLast(last: RawLine | undefined, { isOpen }: ReadableLog): number | undefined {
  return isOpen && last && !last.isComplete ? last.start : last?.end;
}

interface ReadLine {
  raw: RawLine;
  /** Undefined of a remark. */
  number: number | undefined;
}

/** Numbers the lines, and parses what comes before: colors last, and lines may be redrawn. Write or skip all in their order. */
async function openPage(db: Db, readable: ReadableLog, from: number) {
  const parser = new LogParser();
  const pause = openLoopPauses();
  const slice = openSlices(parsedAtOnce);
  const costOfParsing = ({ bytes }: RawLine) => Math.min(bytes.length + parsedLineCost, parsedAtOnce);
  const write = async ({ raw, number }: ReadLine) => {
    await slice(costOfParsing(raw));
    parser.write(raw, number);
  };
  const skip = async (raw: RawLine) => {
    await slice(costOfParsing(raw));
    parser.skip(raw);
  };
  const chunks = { before: from, chunks: maxContextChunks };
  const contextChunk = from > 0 ? await findStartOfChunkBefore(db, readable.log, chunks) : undefined;
  const pieces = readLog(db, readable, { from: Math.max(0, from - contextBytes, contextChunk ?? 0) });
  let number = 1;
  let chunksRead = 0;
  let piece = (await pieces.next()).value as LogPiece | undefined;
  if (from > 0 && piece) number += await countLinesBefore(db, readable.log, piece.start);
  if (piece && piece.start < from - contextBytes && !piece.isRemark) {
    const skipped = piece.bytes.subarray(0, from - contextBytes - piece.start);
    number += countLineFeeds(skipped);
    piece = { ...piece, start: piece.start + skipped.length, bytes: piece.bytes.subarray(skipped.length) };
  }
  const context = new LineSplitter(piece?.start ?? 0);
  const addContext = async (added: LogPiece) => {
    for (const raw of context.add(added)) {
      await write({ raw, number });
      number++;
    }
  };
  while (piece && piece.start + piece.bytes.length <= from && !piece.isRemark) {
    await addContext(piece);
    piece = (await pieces.next()).value as LogPiece | undefined;
  }
  if (piece && piece.start < from && !piece.isRemark) {
    await addContext({ start: piece.start, bytes: piece.bytes.subarray(0, from - piece.start) });
    piece = { ...piece, start: from, bytes: piece.bytes.subarray(from - piece.start) };
  }
  for (const raw of context.flush()) await write({ raw, number });
  parser.beginPage();

  const numbered = (raw: RawLine): ReadLine => {
    const line = { raw, number: raw.isRemark ? undefined : number };
    if (raw.isComplete && !raw.isRemark) number++;
    return line;
  };
  const splitter = new LineSplitter(piece?.start ?? from);

  /** A line that is too long for a page ends with it. */
  async function* lines(before = Number.POSITIVE_INFINITY): AsyncGenerator<ReadLine[]> {
    for (; piece && piece.start < before; piece = (await pieces.next()).value as LogPiece | undefined) {
      chunksRead++;
      const bytes = piece.bytes.subarray(0, before - piece.start);
      let batch: ReadLine[] = [];
      for (const line of splitter.add({ ...piece, bytes })) {
        batch.push(numbered(line));
        if (batch.length < linesAtOnce) continue;
        yield batch;
        await pause();
        batch = [];
      }
      yield batch;
      if (piece.start + piece.bytes.length - splitter.start > maxPageBytes || chunksRead > maxPageChunks)
        yield [...splitter.flush()].map((line) => numbered({ ...line, isCut: true }));
    }
    yield [...splitter.flush()].map(numbered);
  }
  return {
    lines,
    chunksRead: () => chunksRead,
    parser,
    write,
    skip,
  };
}
