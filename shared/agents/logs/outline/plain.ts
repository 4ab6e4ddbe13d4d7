import { nearestColor } from "../colors.ts";

const stamp = "\x1b_bk;t=";
const red = [1, 9];
const code = { bell: 0x07, escape: 0x1b, backslash: 0x5c, space: 0x20 };

export interface PlainLine {
  text: string;
  /** Milliseconds since 1970. */
  time: number | undefined;
  /** A part of it that can be seen is red. */
  isRed: boolean;
}

/**
 * Reads lines ten times as fast as `LogParser`: their text without colors, after what is written over from the first
 * column on. Lines that were redrawn are read as they came.
 */
export class PlainReader {
  #isRed = false;

  read(line: string): PlainLine {
    const end = line.endsWith("\r") ? line.length - 1 : line.length;
    const read: PlainLine = { text: "", time: timeOf(line), isRed: false };
    let place = 0;
    for (let next = line.indexOf("\x1b"); next !== -1; next = line.indexOf("\x1b", place)) {
      if (next > place) this.#addText(read, line.slice(place, next));
      place = this.#readSequence(line, next);
    }
    if (place < end) this.#addText(read, place === 0 && end === line.length ? line : line.slice(place, end));
    return read;
  }

  #addText(read: PlainLine, part: string): void {
    const start = part.lastIndexOf("\r") + 1;
    if (start > 0) {
      read.text = "";
      read.isRed = false;
    }
    const text = start === 0 ? part : part.slice(start);
    read.text = read.text === "" ? text : read.text + text;
    if (this.#isRed && !read.isRed) read.isRed = text.trim() !== "";
  }

  /** Returns the end of the sequence that begins here (ECMA-48). */
  #readSequence(line: string, start: number): number {
    const kind = line[start + 1];
    if (kind === "[") {
      let end = start + 2;
      while (end < line.length && isParameter(line.charCodeAt(end))) end++;
      if (line[end] === "m") this.#isRed = isRedAfter(line.slice(start + 2, end), this.#isRed);
      return end + 1;
    }
    if (kind === undefined || !"]PX^_".includes(kind)) return endOfShort(line, start);
    let end = start + 2;
    for (let at = line.charCodeAt(end); end < line.length; at = line.charCodeAt(++end))
      if (at === code.bell || at === code.escape) break;
    if (line.charCodeAt(end) === code.bell) return end + 1;
    return line.charCodeAt(end + 1) === code.backslash ? end + 2 : end;
  }
}

/** Intermediate characters and a last one: `ESC ( B` chooses letters. */
function endOfShort(line: string, start: number): number {
  let end = start + 1;
  while (line.charCodeAt(end) >= code.space && line.charCodeAt(end) < 0x30) end++;
  return end + 1;
}

function isParameter(at: number): boolean {
  return at >= code.space && at < 0x40;
}

/** Agents begin a line with its time. */
function timeOf(line: string): number | undefined {
  if (!line.startsWith(stamp)) return undefined;
  const time = Number(line.slice(stamp.length, line.indexOf("\x07")));
  return Number.isSafeInteger(time) ? time : undefined;
}

/** @param parameters of a color sequence (ECMA-48 §8.3.117): of the colors of letters only red is of interest */
function isRedAfter(parameters: string, isRed: boolean): boolean {
  if (parameters === "31" || parameters === "91") return true;
  if (parameters === "" || parameters === "0" || parameters === "39") return false;
  const codes = parameters.split(/[;:]/).map(Number);
  let after = isRed;
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] as number;
    if (code === 38 || code === 48) {
      const { isRed: given, length } = extendedColor(codes.slice(index + 1));
      if (code === 38) after = given;
      index += length;
    } else if (code === 0 || code === 39) after = false;
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) after = code % 10 === 1;
  }
  return after;
}

function extendedColor([kind, ...values]: number[]): { isRed: boolean; length: number } {
  if (kind === 5)
    return { isRed: red.includes(nearestColor({ type: "table", index: values[0] ?? 0 })), length: 2 };
  const [r = 0, g = 0, b = 0] = values;
  return { isRed: kind === 2 && red.includes(nearestColor({ type: "rgb", rgb: [r, g, b] })), length: 4 };
}
