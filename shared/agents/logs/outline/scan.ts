import { Buffer } from "node:buffer";
import { contains } from "../../../text-search.ts";
import { maxLineBytes } from "../lines.ts";
import { headerOf, opensPrevious } from "../parse.ts";
import { PlainReader } from "./plain.ts";

export interface OutlineGroup {
  /** The number of its header. */
  number: number;
  title: string;
  /** Milliseconds since 1970. */
  time: number | undefined;
  /** The number of its first red line. */
  firstRed: number | undefined;
}

/** The lines of a log by their numbers. Only the first of each kind are kept. */
export interface Outline {
  groups: OutlineGroup[];
  /** The first lines of red ones that follow each other. */
  reds: number[];
  /** The first red line of the last group that has one. */
  failedAt: number | undefined;
  /** The header of the last group. */
  lastGroup: number | undefined;
  /** Lines that have the text that is searched for. */
  hits: number[];
  hasMoreHits: boolean;
  /** The times of the first and the last line that have one, in milliseconds since 1970. */
  firstTime: number | undefined;
  lastTime: number | undefined;
  /** The agent sends no times: all are those of arrivals. */
  isByArrival: boolean;
  /** Lines that were read. */
  lines: number;
}

const max = { groups: 300, reds: 1000, hits: 1000 };
const maxTitle = 120;
const lineFeed = 10;

/** Reads a log once, in pieces: its groups, its red lines and those with a text. */
export class LogScan implements Outline {
  groups: OutlineGroup[] = [];
  reds: number[] = [];
  hits: number[] = [];
  hasMoreHits = false;
  firstTime: number | undefined;
  lastTime: number | undefined;
  isByArrival = true;
  failedAt: number | undefined;
  lastGroup: number | undefined;
  lines: number;
  readonly #reader = new PlainReader();
  readonly #needle: string;
  #rest: Buffer = Buffer.alloc(0);
  #restArrivedAt: number | undefined;
  #wasRed = false;
  #hasRedGroup = false;

  /**
   * @param needle is found in capitals, too
   * @param lines before those that are read
   */
  constructor(needle: string, lines = 0) {
    this.#needle = needle.toLowerCase();
    this.lines = lines;
  }

  /**
   * Adds the next bytes of the log.
   * @param arrivedAt milliseconds since 1970
   */
  add(piece: Buffer, arrivedAt?: number): void {
    const end = piece.lastIndexOf(lineFeed);
    if (end === -1) this.#keep(piece, arrivedAt);
    else {
      const whole = Buffer.concat([this.#rest, piece.subarray(0, end)]).toString("utf8");
      let begunAt = this.#rest.length > 0 ? this.#restArrivedAt : arrivedAt;
      this.#rest = Buffer.alloc(0);
      for (const line of whole.split("\n")) {
        this.#addLine(line, begunAt);
        begunAt = arrivedAt;
      }
      this.#keep(piece.subarray(end + 1), arrivedAt);
    }
  }

  /** The last line has no line feed. */
  end(): void {
    if (this.#rest.length > 0) this.#addLine(this.#rest.toString("utf8"), this.#restArrivedAt);
    this.#rest = Buffer.alloc(0);
  }

  #keep(bytes: Buffer, arrivedAt: number | undefined): void {
    if (this.#rest.length === 0) this.#restArrivedAt = arrivedAt;
    const room = maxLineBytes - this.#rest.length;
    if (room > 0 && bytes.length > 0) this.#rest = Buffer.concat([this.#rest, bytes.subarray(0, room)]);
  }

  #addLine(line: string, arrivedAt: number | undefined): void {
    const number = ++this.lines;
    const {
      text,
      time: sent,
      isRed,
    } = this.#reader.read(line.length > maxLineBytes ? line.slice(0, maxLineBytes) : line);
    if (sent !== undefined && this.isByArrival) this.#forgetArrivals();
    const time = this.isByArrival ? arrivedAt : sent;
    this.firstTime ??= time;
    this.lastTime = time ?? this.lastTime;
    const title = headerOf(text)?.title;
    if (title !== undefined) this.#addGroup({ number, title, time, firstRed: undefined });
    if (isRed) this.#addRed(number);
    this.#wasRed = isRed;
    if (this.#needle === "" || opensPrevious(text) || !contains(text.toLowerCase(), this.#needle)) return;
    if (this.hits.length < max.hits) this.hits.push(number);
    else this.hasMoreHits = true;
  }

  /** The clock of the agent may be another one. */
  #forgetArrivals(): void {
    this.isByArrival = false;
    this.firstTime = this.lastTime = undefined;
    for (const group of this.groups) group.time = undefined;
  }

  #addGroup({ title, ...group }: OutlineGroup): void {
    this.lastGroup = group.number;
    this.#hasRedGroup = false;
    if (this.groups.length < max.groups)
      this.groups.push({ ...group, title: copyOf(title.slice(0, maxTitle)) });
  }

  #addRed(number: number): void {
    if (!this.#hasRedGroup) {
      this.#hasRedGroup = true;
      this.failedAt = number;
      const group = this.groups.at(-1);
      if (group?.number === this.lastGroup && group) group.firstRed = number;
    }
    if (!this.#wasRed && this.reds.length < max.reds) this.reds.push(number);
  }
}

/** A part of a string keeps all of it in memory. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
