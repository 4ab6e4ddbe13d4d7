import { createAnsiSequenceParser, type ParseToken } from "ansi-sequence-parser";
import { nearestColor } from "./colors.ts";
import { type Control, splitControls } from "./controls.ts";
import type { RawLine } from "./lines.ts";
import type { LogText, Row } from "./row.ts";
import { Screen } from "./screen.ts";

/** `open`: shown at once. `dim`: of less interest. */
export type LogGroup = "closed" | "open" | "dim";

/** A line as a terminal shows it. One that is redrawn keeps the number under which it came first. */
export interface LogLine {
  /** Undefined: a remark of ours. */
  number: number | undefined;
  start: number;
  end: number;
  /** As the agent says, in milliseconds since 1970. */
  time: number | undefined;
  /** The arrival of its first byte, in milliseconds since 1970. */
  arrivedAt: number | undefined;
  texts: LogText[];
  /** The line begins a group. */
  group: LogGroup | undefined;
  /** The line opens the group that it stands in. */
  opensGroup: boolean;
  isComplete: boolean;
  isCut: boolean;
}

const header = /^(---|\+\+\+|~~~)[ \t]+/;
const groups: Record<string, LogGroup> = { "---": "closed", "+++": "open", "~~~": "dim" };

/** The group that a line begins. */
export function headerOf(text: string): { group: LogGroup | undefined; title: string } | undefined {
  const [all, marker] = header.exec(text) ?? [];
  return marker === undefined || all === undefined
    ? undefined
    : { group: groups[marker], title: text.slice(all.length) };
}

/** The line opens the group that it stands in. */
export function opensPrevious(text: string): boolean {
  return text.startsWith("^^^ +++");
}

const escapeByte = 0x1b;

/** Parses lines in their order: colors last until they are reset, and the last lines may be redrawn. */
export class LogParser {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #ansi = createAnsiSequenceParser();
  readonly #screen = new Screen();
  readonly #hasGroups: boolean;
  /** Of the text that comes next; undefined if not known. */
  #classes: string | undefined;

  constructor({ hasGroups = true } = {}) {
    this.#hasGroups = hasGroups;
  }

  /** About the length in HTML of the lines of the page. */
  get cost(): number {
    return this.#screen.cost;
  }

  /** Adds a line of the log. */
  write(line: RawLine, number: number | undefined): void {
    const screen = this.#screen;
    screen.beginLine(line, number);
    let colored = "";
    let href: string | undefined;
    const flush = () => {
      if (colored !== "") this.#writeText(colored, href);
      colored = "";
    };
    for (const control of splitControls(this.#decoder.decode(line.bytes))) {
      const { kind } = control;
      if (kind === "text") colored += control.text;
      else if (kind === "color") colored += control.sequence;
      else {
        flush();
        if (kind === "link") href = control.href;
        else if (kind === "element") this.#writeText(control.text, control.href);
        else applyTo(screen, control);
      }
    }
    flush();
    screen.endLine();
  }

  /** Reads a line that is not shown, for the colors that last. The lines before it are forgotten. */
  skip(line: RawLine): void {
    this.#screen.clear();
    this.#classes = undefined;
    if (!line.bytes.includes(escapeByte)) return;
    for (const control of splitControls(this.#decoder.decode(line.bytes)))
      if (control.kind === "color") this.#ansi.parse(control.sequence);
  }

  /** Text from before is shown only if it changes: all lines from the first that changes are. */
  beginPage(): void {
    this.#screen.beginPage();
  }

  /** The next lines that no longer change. */
  take(): LogLine[] {
    return this.#screen.takeFinished().map((row) => toLine(row, this.#hasGroups));
  }

  /** The lines that are left. */
  end(): LogLine[] {
    return this.#screen.takeAll().map((row) => toLine(row, this.#hasGroups));
  }

  /** Text with colors. The library is slow for many short texts, so that those of one color do without it. */
  #writeText(text: string, href: string | undefined): void {
    const hasColors = text.includes("\x1b");
    if (!hasColors && this.#classes !== undefined) {
      this.#screen.write({ text, classes: this.#classes, href });
      return;
    }
    for (const token of this.#ansi.parse(text)) {
      this.#classes = classesOf(token);
      this.#screen.write({ text: token.value, classes: this.#classes, href });
    }
    if (hasColors && text.endsWith("m")) this.#classes = undefined; // a color may have come last
  }
}

function applyTo(screen: Screen, control: Control): void {
  if (control.kind === "move") screen.control(control.final, control.amount);
  else if (control.kind === "time") screen.setTime(control.time);
  else if (control.kind === "return") screen.return();
  else if (control.kind === "backspace") screen.control("D", 1);
  else if (control.kind === "save") screen.save();
  else if (control.kind === "restore") screen.restore();
}

function toLine(row: Row, hasGroups: boolean): LogLine {
  const { number, start, end, time, arrivedAt, isComplete, isCut, isRemark } = row;
  const texts = row.texts();
  const plain = textOf({ texts });
  const [first] = texts;
  const begun = isRemark || !hasGroups ? undefined : headerOf(first?.text ?? "");
  if (first && begun) first.text = begun.title;
  return {
    number,
    start,
    end,
    time,
    arrivedAt,
    isComplete,
    isCut,
    texts: texts.filter(({ text }) => text !== ""),
    group: begun?.group,
    opensGroup: opensPrevious(plain),
  };
}

/** The text of a line without its colors. */
export function textOf({ texts }: Pick<LogLine, "texts">): string {
  return texts.map(({ text }) => text).join("");
}

function classesOf({ foreground, background, decorations }: ParseToken): string {
  const names: string[] = [...decorations].filter((name) => name !== "hidden");
  if (foreground) names.push(`fg${nearestColor(foreground)}`);
  if (background) names.push(`bg${nearestColor(background)}`);
  return names.join(" ");
}
