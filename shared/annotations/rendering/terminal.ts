import { LineSplitter } from "../../agents/logs/lines.ts";
import { type LogLine, LogParser } from "../../agents/logs/parse.ts";
import type { LogText } from "../../agents/logs/row.ts";
import { escapeText } from "./tags.ts";

const decorations: Record<string, string> = {
  bold: "term-fg1",
  dim: "term-fg2",
  italic: "term-fg3",
  underline: "term-fg4",
  strikethrough: "term-fg9",
};

/**
 * Writes the output of a terminal as HTML, as logs show it: colors and links stay, lines are redrawn, other control
 * sequences are dropped. The lines that begin groups in logs are plain ones here.
 * @param count is called for each line and each text of its own color
 */
export function renderTerminal(output: string, count: () => void): string {
  const splitter = new LineSplitter(0);
  const parser = new LogParser({ hasGroups: false });
  let html = "";
  const render = ({ texts, isCut }: LogLine) => {
    for (const text of texts) {
      count();
      html += renderText(text);
    }
    html += isCut ? "…\n" : "\n";
  };
  const add = function* () {
    yield* splitter.add({ start: 0, bytes: Buffer.from(output) });
    yield* splitter.flush();
  };
  for (const line of add()) {
    count();
    parser.write(line, undefined);
    for (const shown of parser.take()) render(shown);
  }
  for (const shown of parser.end()) render(shown);
  return html;
}

function renderText({ text, classes, href }: LogText): string {
  const names = classes
    .split(" ")
    .flatMap((name) => decorations[name] ?? colorClass(name) ?? [])
    .join(" ");
  const content = names ? `<span class="${names}">${escapeText(text)}</span>` : escapeText(text);
  return href === undefined ? content : `<a href="${escapeText(href)}">${content}</a>`;
}

/** `fg1` is `term-fg31`, and `bg9` the bright `term-bgi101`. */
function colorClass(name: string): string | undefined {
  const [, place, digits] = /^(fg|bg)(\d+)$/.exec(name) ?? [];
  if (place === undefined) return undefined;
  const number = Number(digits);
  const base = place === "fg" ? 30 : 40;
  return number < 8 ? `term-${place}${base + number}` : `term-${place}i${base + 60 + number - 8}`;
}
