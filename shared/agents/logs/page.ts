import type { Db } from "../../db/database.ts";
import { openLoopPauses } from "../../process/loop-pauses.ts";
import { turns } from "../../sharing/bounds.ts";
import { openLoopTurns, openSlices } from "../../sharing/loop-turns.ts";
import { countLinesBefore, findChunkWithLineFeed, findStartOfChunkBefore } from "./chunk-store.ts";
import { countLineFeeds, endOfLines, LineSplitter, type RawLine, startOfLead } from "./lines.ts";
import { type LogLine, LogParser } from "./parse.ts";
import { type LogPiece, type ReadableLog, readLog } from "./read.ts";

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
const lineCost = 140;
const maxPageLines = Math.ceil(maxPageCost / lineCost);
const linesAtOnce = 500;
const parsing = openLoopTurns(turns.logPages);
const parsedAtOnce = turns.logPages.each.max * 1024;
/** The time that a line takes beside its bytes, as bytes. */
const parsedLineCost = 64;

/** The lines from a byte on, which begins a line. */
export async function readPageFrom(db: Db, readable: ReadableLog, from: number): Promise<LogPage> {
  const reader = await openPage(db, readable, from);
  const lines: LogLine[] = [];
  let cost = 0;
  for await (const batch of reader.lines()) {
    for (const read of batch) {
      const line = await reader.parse(read);
      const isFull = line.end - from > maxPageBytes || reader.chunksRead() > maxPageChunks;
      cost += costOf(line);
      if (lines.length > 0 && (cost > maxPageCost || isFull))
        return { lines, start: from, end: line.start, isLast: false };
      lines.push(line);
      if (isFull && !line.isComplete) return { lines, start: from, end: line.end, isLast: false };
    }
  }
  return lastPage(lines, from, readable);
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
    return start + bytes.length - rest.length + startOfLead(rest, end);
  }
  return undefined; // the log is being deleted
}

/** The lines before a byte, which begins a line; the last ones by default. */
export async function readPageBefore(db: Db, readable: ReadableLog, before?: number): Promise<LogPage> {
  const page = await readWindow(db, readable, { before, bytes: shortWindowBytes });
  const cost = page.lines.reduce((sum, line) => sum + costOf(line), 0);
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
  const read: ReadLine[] = [];
  let isWithinLine = from > 0;
  for await (const batch of reader.lines(before))
    for (const line of batch) {
      if (!isWithinLine || line.raw.isRemark) read.push(line);
      if (isWithinLine && read.length === 0 && line.raw.end >= end) read.push(line); // all of it is one line
      isWithinLine = false;
    }
  for (const { raw } of read.slice(0, -maxPageLines)) await reader.skip(raw);
  const lines: LogLine[] = [];
  for (const line of read.slice(-maxPageLines)) lines.push(await reader.parse(line));
  if (lines.length === 0 && from > 0 && before === undefined) return readPageFrom(db, readable, 0); // a gap came
  let cost = 0;
  const first = lines.findLastIndex((line) => {
    cost += costOf(line);
    return cost > maxPageCost;
  });
  const shown = lines.slice(Math.min(first + 1, Math.max(0, lines.length - 1)));
  const start = shown[0]?.start ?? from;
  if (before === undefined) return lastPage(shown, start, readable);
  return { lines: shown, start, end, isLast: false };
}

function lastPage(lines: LogLine[], start: number, { isOpen }: ReadableLog): LogPage {
  const last = lines.findLast(({ number }) => number !== undefined);
  const end = isOpen && last && !last.isComplete ? last.start : (last?.end ?? start);
  return { lines, start, end, isLast: true };
}

interface ReadLine {
  raw: RawLine;
  /** Undefined of a remark. */
  number: number | undefined;
}

/** Numbers the lines, and parses what comes before for its colors. Parse or skip all lines in their order. */
async function openPage(db: Db, readable: ReadableLog, from: number) {
  const parser = new LogParser();
  const pause = openLoopPauses();
  const slice = openSlices(parsing, parsedAtOnce);
  const costOfParsing = ({ bytes }: RawLine) => Math.min(bytes.length + parsedLineCost, parsedAtOnce);
  const parse = async ({ raw, number }: ReadLine) => {
    await slice(costOfParsing(raw));
    return parser.parse(raw, number);
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
    piece = { start: piece.start + skipped.length, bytes: piece.bytes.subarray(skipped.length) };
  }
  const context = new LineSplitter(piece?.start ?? 0);
  const addContext = async (added: LogPiece) => {
    for (const line of context.add(added)) {
      await skip(line);
      number++;
    }
  };
  while (piece && piece.start + piece.bytes.length <= from && !piece.isRemark) {
    await addContext(piece);
    piece = (await pieces.next()).value as LogPiece | undefined;
  }
  if (piece && piece.start < from && !piece.isRemark) {
    await addContext({ start: piece.start, bytes: piece.bytes.subarray(0, from - piece.start) });
    piece = { start: from, bytes: piece.bytes.subarray(from - piece.start) };
  }
  for (const line of context.flush()) await skip(line);

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
    parse,
    skip,
  };
}

/** Returns about the length of the line in HTML. */
function costOf({ texts }: LogLine): number {
  return texts.reduce((cost, { text, href }) => {
    const escaped = text.match(/[<>&"]/g)?.length ?? 0;
    return cost + Buffer.byteLength(text) + 4 * escaped + 40 + (href?.length ?? 0);
  }, lineCost);
}
