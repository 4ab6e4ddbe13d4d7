import { Buffer } from "node:buffer";
import type { LogPiece } from "./read.ts";

export interface RawLine {
  /** The offset of its first byte in the log. */
  start: number;
  /** The offset of the first byte after it. */
  end: number;
  /** The line without its line feed. A long progress line has only its last part. */
  bytes: Buffer;
  isComplete: boolean;
  /** Bytes are missing at its end. */
  isCut: boolean;
  isRemark: boolean;
  /** The arrival of its first byte, in milliseconds since 1970. */
  arrivedAt?: number | undefined;
}

/** Of a longer line the rest is not shown. */
export const maxLineBytes = 16 * 1024;
const lineFeed = 10;
const carriageReturn = 13;
const toFirstColumn = ["\x1b[G", "\x1b[0G", "\x1b[1G"];

/** Splits pieces of a log into lines. Keeps at most 16 KB of a line. */
export class LineSplitter {
  #start = 0;
  #end = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #isCut = false;
  #arrivedAt: number | undefined;

  /** The start of the line that is not complete yet. */
  get start(): number {
    return this.#start;
  }

  constructor(start: number) {
    this.#start = start;
    this.#end = start;
  }

  *add({ start, bytes, isRemark, arrivedAt }: LogPiece): Generator<RawLine> {
    if (isRemark) {
      yield* this.flush();
      yield { start, end: start, bytes, isComplete: true, isCut: false, isRemark: true };
      return;
    }
    if (start !== this.#end) this.#start = start; // after a gap
    this.#end = start;
    for (let from = 0; from < bytes.length; ) {
      if (this.#end === this.#start) this.#arrivedAt = arrivedAt;
      const found = bytes.indexOf(lineFeed, from);
      const end = found === -1 ? bytes.length : found;
      this.#append(bytes.subarray(from, end));
      from = end + 1;
      this.#end = start + Math.min(from, bytes.length);
      if (found !== -1) yield this.#take(true);
    }
  }

  *flush(): Generator<RawLine> {
    if (this.#end > this.#start) yield this.#take(false);
  }

  #take(isComplete: boolean): RawLine {
    const line = { start: this.#start, end: this.#end, bytes: this.#bytes, arrivedAt: this.#arrivedAt };
    const isCut = this.#isCut;
    this.#start = this.#end;
    this.#bytes = Buffer.alloc(0);
    this.#isCut = false;
    return { ...line, isComplete, isCut, isRemark: false };
  }

  #append(part: Buffer): void {
    const overwrites = lastOverwrite(part);
    if (this.#isCut && overwrites === -1) return;
    const all = this.#bytes.length === 0 || this.#isCut ? part : Buffer.concat([this.#bytes, part]);
    this.#isCut = false;
    this.#bytes = all.length > maxLineBytes ? this.#shorten(all) : all;
  }

  /** Text that a later one overwrites goes first. */
  #shorten(all: Buffer): Buffer {
    const last = lastOverwrite(all);
    const kept = last === -1 ? all : all.subarray(last);
    this.#isCut = kept.length > maxLineBytes;
    return kept.subarray(0, maxLineBytes);
  }
}

/** Takes about equally long for any bytes. `indexOf` takes fifty times as long for many line feeds in a row. */
export function countLineFeeds(bytes: Buffer): number {
  const toWord = -bytes.byteOffset & 3;
  if (bytes.length < toWord) return countEach(bytes);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + toWord, (bytes.length - toWord) >>> 2);
  let lines = countEach(bytes.subarray(0, toWord)) + countEach(bytes.subarray(toWord + words.byteLength));
  for (let index = 0; index < words.length; index++) {
    const differing = (words[index] as number) ^ lineFeeds;
    // The highest bit of each byte that does not differ.
    let found = ~(((differing & lowBits) + lowBits) | differing | lowBits);
    for (; found !== 0; found &= found - 1) lines++;
  }
  return lines;
}

/** The offset after this many line feeds. */
export function endOfLines(bytes: Buffer, lines: number): number {
  let end = 0;
  for (let seen = 0; seen < lines && end < bytes.length; end++) if (bytes[end] === lineFeed) seen++;
  return end;
}

/** Lines that are shown before one that a link names. */
const lead = { lines: 10, bytes: 4096 };

/**
 * The offset of a line before the one at `end`: few lines, of few bytes.
 * @param beginsLine the first byte begins a line
 */
export function startOfLead(bytes: Buffer, end: number, beginsLine: boolean): number {
  let start = end;
  for (let lines = 0; lines < lead.lines && start > 0; lines++) {
    const previous = start < 2 ? -1 : bytes.lastIndexOf(lineFeed, start - 2);
    if ((previous === -1 && !beginsLine) || end - previous > lead.bytes) break;
    start = previous + 1;
  }
  return start;
}

/** Four line feeds, and all bits but the highest of four bytes. */
const lineFeeds = 0x0a0a0a0a;
const lowBits = 0x7f7f7f7f;

function countEach(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === lineFeed) lines++;
  return lines;
}

/** The start of what a line is after all of it is overwritten. A carriage return at the very end may belong to the line feed. */
function lastOverwrite(bytes: Buffer): number {
  const last = bytes.length < 2 ? -1 : bytes.lastIndexOf(carriageReturn, bytes.length - 2);
  return Math.max(last, ...toFirstColumn.map((sequence) => bytes.lastIndexOf(sequence)));
}
