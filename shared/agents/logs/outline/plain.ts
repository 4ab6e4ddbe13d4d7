import { nearestColor } from "../colors.ts";

/** Sequences that leave nothing to read, but colors. */
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  /\x1b(?:[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-?]*[ -/]*[@-ln-~]|[ -/]*[0-Z\\`-~])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const color = /\x1b\[([\d;:]*)m/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const times = /^(?:\x1b_bk;t=(\d{1,16})\x07)+/;
const red = [1, 9];

export interface PlainLine {
  text: string;
  /** Milliseconds since 1970. */
  time: number | undefined;
  /** A part of it that can be seen is red. */
  isRed: boolean;
}

/**
 * Reads lines faster than `LogParser`, by twenty times: their text without colors, after the last carriage return. Lines
 * are not redrawn.
 */
export class PlainReader {
  #isRed = false;

  read(line: string): PlainLine {
    if (!line.includes("\x1b")) return this.#plain(lastDrawn(line), undefined);
    const [stamps = "", stamp] = times.exec(line) ?? [];
    const time = stamp === undefined ? undefined : Number(stamp);
    const rest = stamps === "" ? line : line.slice(stamps.length);
    if (!rest.includes("\x1b")) return this.#plain(lastDrawn(rest), time);
    return { ...this.#colored(lastDrawn(rest.replace(sequences, ""))), time };
  }

  #plain(text: string, time: number | undefined): PlainLine {
    return { text, time, isRed: this.#isRed && text.trim() !== "" };
  }

  #colored(line: string): Omit<PlainLine, "time"> {
    const parts = line.split(color);
    let text = parts[0] as string;
    let isRed = this.#isRed && text.trim() !== "";
    for (let index = 1; index < parts.length; index += 2) {
      this.#isRed = isRedAfter(parts[index] as string, this.#isRed);
      const part = parts[index + 1] as string;
      text += part;
      isRed ||= this.#isRed && part.trim() !== "";
    }
    return { text, isRed };
  }
}

/** Text that is written over from the first column on is not seen. */
function lastDrawn(line: string): string {
  const end = line.endsWith("\r") ? line.length - 1 : line.length;
  const start = line.lastIndexOf("\r", end - 1) + 1;
  return start === 0 && end === line.length ? line : line.slice(start, end);
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
