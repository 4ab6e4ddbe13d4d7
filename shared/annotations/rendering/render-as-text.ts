import { escapeText } from "./tags.ts";

const maxTextLength = 256 * 1024;

/** For a body that cannot be rendered: as its author wrote it, or the start of it. */
export function renderAsText(body: string): string {
  const isCut = body.length > maxTextLength;
  const text = escapeText(body.slice(0, maxTextLength).toWellFormed());
  const notice = `This annotation is shown as text${isCut ? ", up to 256 KB" : ""}: its HTML would be too large, or take too long.`;
  return `<p><em>${notice}</em></p>\n<pre>${text}${isCut ? "\n…" : ""}</pre>\n`;
}
