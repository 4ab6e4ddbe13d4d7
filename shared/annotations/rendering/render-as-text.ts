import { escapeText } from "./tags.ts";

const maxTextLength = 256 * 1024;

/** For a body that cannot be rendered: as its author wrote it, or the start of it. */
export function renderAsText(body: string): string {
  const isCut = body.length > maxTextLength;
  const text = escapeText(body.slice(0, maxTextLength).toWellFormed());
  return `<pre>${text}${isCut ? "\n…" : ""}</pre>\n`;
}
