/** Escape sequences (ECMA-48) and control characters, but tab. */
const controls = new RegExp(
  [
    "\\x1b_bk;t=(?<time>\\d{1,16})\\x07",
    "\\x1b\\]8;[^;\\x07\\x1b]*;(?<link>[^\\x07\\x1b]*)(?:\\x07|\\x1b\\\\)",
    "\\x1b\\]133[89];(?<element>[^\\x07\\x1b]*)(?:\\x07|\\x1b\\\\)",
    "\\x1b[\\]PX^_][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)",
    "\\x1b\\[(?<parameters>[0-?]*)[ -/]*(?<final>[@-~])",
    "\\x1b[ -/]*[0-~]?",
    "[\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f]",
  ].join("|"),
  "g",
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const hasControl = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/;

/** A part of a line: text to write, or a control. */
export type Control =
  | { kind: "text"; text: string }
  /** Milliseconds since 1970. */
  | { kind: "time"; time: number }
  /** Undefined: the link ends. */
  | { kind: "link"; href: string | undefined }
  /** The text of a link or a picture, in one sequence. */
  | { kind: "element"; text: string; href: string | undefined }
  | { kind: "color"; sequence: string }
  | { kind: "return" | "backspace" | "save" | "restore" }
  /** A sequence that moves the cursor or erases, by its final character. */
  | { kind: "move"; final: string; amount: number | undefined };

const savesOrRestores: Record<string, "save" | "restore"> = {
  "\x1b7": "save",
  "\x1b8": "restore",
  "\x1b[s": "save",
  "\x1b[u": "restore",
};

/** Splits a line into text and the controls that change what is shown. Others are dropped. */
export function* splitControls(text: string): Generator<Control> {
  if (!hasControl.test(text)) {
    yield { kind: "text", text };
    return;
  }
  let index = 0;
  for (const match of text.matchAll(controls)) {
    if (match.index > index) yield { kind: "text", text: text.slice(index, match.index) };
    index = match.index + match[0].length;
    const control = controlOf(match);
    if (control) yield control;
  }
  if (index < text.length) yield { kind: "text", text: text.slice(index) };
}

function controlOf({ 0: all, groups = {} }: RegExpExecArray): Control | undefined {
  const { time, link, element, parameters = "", final } = groups;
  if (all === "\r") return { kind: "return" };
  if (all === "\b") return { kind: "backspace" };
  if (time !== undefined) return { kind: "time", time: Number(time) };
  if (link !== undefined) return { kind: "link", href: safeLink(link) };
  if (element !== undefined) return elementOf(element);
  const kind = savesOrRestores[all];
  if (kind) return { kind };
  if (final === "m" && /^[\d;:]*$/.test(parameters))
    return { kind: "color", sequence: `\x1b[${normalized(parameters)}m` };
  if (final && /^[A-GJK]$/.test(final) && /^\d{0,9}$/.test(parameters))
    return { kind: "move", final, amount: parameters === "" ? undefined : Number(parameters) };
  return undefined;
}

/** No search begins within a name: one of 16 KB would take a tenth of a second. */
const attribute = /(?<!\w)(\w+)=(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^;]*))(?:;|$)/g;

/** The attributes of a link (OSC 1339) have its content, those of a picture (1338) its text. */
function elementOf(attributes: string): Control {
  const values: Record<string, string> = {};
  for (const [, name, single, double, bare] of attributes.matchAll(attribute))
    values[name as string] = (single ?? double)?.replace(/\\(.)/g, "$1") ?? (bare as string);
  const { url = "", content, alt } = values;
  const text = (content || alt || url).replace(new RegExp(hasControl, "g"), "");
  return { kind: "element", text, href: safeLink(url) };
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
