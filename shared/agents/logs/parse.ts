import { createAnsiSequenceParser, type ParseToken } from "ansi-sequence-parser";
import { nearestColor } from "./colors.ts";
import type { RawLine } from "./lines.ts";

/** `open`: shown at once. `dim`: of less interest. */
export type LogGroup = "closed" | "open" | "dim";

export interface LogText {
  text: string;
  /** Class names, separated by spaces. */
  classes: string;
  /** An http or https address. */
  href: string | undefined;
}

export interface LogLine {
  /** Undefined: a remark of ours. */
  number: number | undefined;
  start: number;
  end: number;
  /** Milliseconds since 1970. */
  time: number | undefined;
  texts: LogText[];
  /** The line begins a group. */
  group: LogGroup | undefined;
  /** The line opens the group that it stands in. */
  opensGroup: boolean;
  isComplete: boolean;
  isCut: boolean;
}

/** Escape sequences (ECMA-48) and control characters, but tab and carriage return. */
const controls = new RegExp(
  [
    "\\x1b_bk;t=(?<time>\\d{1,16})\\x07",
    "\\x1b\\]8;[^;\\x07\\x1b]*;(?<link>[^\\x07\\x1b]*)(?:\\x07|\\x1b\\\\)",
    "\\x1b[\\]PX^_][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)",
    "\\x1b\\[(?<parameters>[0-?]*)[ -/]*(?<final>[@-~])",
    "\\x1b[ -/]*[0-~]?",
    "[\\x00-\\x08\\x0a-\\x0c\\x0e-\\x1f\\x7f-\\x9f]",
  ].join("|"),
  "g",
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const colors = /\x1b\[[\d;]*m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const header = /^((?:\x1b\[[\d;]*m)*)(---|\+\+\+|~~~)[ \t]+/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const hasControl = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/;
const opensPrevious = /^\^\^\^ \+\+\+/;
const groups: Record<string, LogGroup> = { "---": "closed", "+++": "open", "~~~": "dim" };

const escapeByte = 0x1b;

interface Part {
  text: string;
  href: string | undefined;
}

/** Parses lines in their order: colors last until they are reset. */
export class LogParser {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #ansi = createAnsiSequenceParser();

  parse(line: RawLine, number: number | undefined): LogLine {
    const { start, end, bytes, isComplete, isCut, isRemark } = line;
    const { parts, time } = split(this.#decoder.decode(bytes));
    const plain = parts
      .map(({ text }) => text)
      .join("")
      .replace(colors, "");
    const [first] = parts;
    const marker = isRemark ? undefined : header.exec(first?.text ?? "")?.[2];
    if (first && marker !== undefined) first.text = first.text.replace(header, "$1");
    return {
      ...{ number, start, end, time, isComplete, isCut },
      texts: parts.flatMap((part) => this.#color(part)),
      group: marker === undefined ? undefined : groups[marker],
      opensGroup: opensPrevious.test(plain),
    };
  }

  /** Parses a line that is not shown, for the colors that last. */
  skip(line: RawLine): void {
    if (line.bytes.includes(escapeByte)) this.parse(line, undefined);
  }

  #color({ text, href }: Part): LogText[] {
    return this.#ansi.parse(text).map((token) => ({ text: token.value, classes: classesOf(token), href }));
  }
}

function classesOf({ foreground, background, decorations }: ParseToken): string {
  const names: string[] = [...decorations].filter((name) => name !== "hidden");
  if (foreground) names.push(`fg${nearestColor(foreground)}`);
  if (background) names.push(`bg${nearestColor(background)}`);
  return names.join(" ");
}

/** The visible parts of a line, with no other control sequences than those of colors. */
function split(text: string): { parts: Part[]; time: number | undefined } {
  if (!hasControl.test(text)) return { parts: [{ text, href: undefined }], time: undefined };
  let time: number | undefined;
  let href: string | undefined;
  let parts: Part[] = [];
  const add = (added: string) => {
    const [last] = parts.slice(-1);
    if (last && last.href === href) last.text += added;
    else parts.push({ text: added, href });
  };
  let overwrittenColors = "";
  const overwrite = () => {
    for (const part of parts) overwrittenColors += (part.text.match(colors) ?? []).join("");
    parts = [];
  };
  let index = 0;
  let returns = false;
  const addVisible = (visible: string) => {
    for (const [index, segment] of visible.split("\r").entries()) {
      if (index > 0) returns = true;
      if (segment === "") continue;
      if (returns) overwrite();
      returns = false;
      add(segment);
    }
  };
  for (const match of text.matchAll(controls)) {
    addVisible(text.slice(index, match.index));
    index = match.index + match[0].length;
    const { time: mark, link, parameters = "", final } = match.groups ?? {};
    if (mark !== undefined) time ??= Number(mark);
    else if (link !== undefined) href = safeLink(link);
    else if (final === "m" && /^[\d;:]*$/.test(parameters)) add(`\x1b[${normalized(parameters)}m`);
    else if (final === "G" && /^[01]?$/.test(parameters)) returns = true;
  }
  addVisible(text.slice(index));
  const [first] = parts;
  if (first) first.text = overwrittenColors + first.text;
  return { parts, time };
}

/** Only semicolons, without the color space of a color (ITU-T T.416). The library does not take absent parameters for 0. */
function normalized(parameters: string): string {
  return parameters
    .replace(/([34]8:2):\d*:(\d+:\d+:\d+)/g, "$1:$2")
    .split(/[;:]/)
    .map((parameter) => parameter || "0")
    .join(";");
}

function safeLink(link: string): string | undefined {
  return URL.canParse(link) && /^https?:$/.test(new URL(link).protocol) ? new URL(link).href : undefined;
}
