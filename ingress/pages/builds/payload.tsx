import { HTTPResponse } from "h3";
import { sizeInWords } from "../../../shared/refusal.ts";
import type { PayloadStart } from "../../../shared/triggers/payloads/store.ts";

/** The limit for a payload, and for its indented text. */
export const maxShownBytes = 256 * 1024;
/** Lines that are indented deeper would be mostly spaces. */
const maxIndent = 24;

export function PayloadView({ payload, path }: { payload: PayloadStart; path: string }) {
  const { text, isWhole } = indent(payload.text, maxShownBytes);
  return (
    <section aria-labelledby="payload">
      <div class="heading">
        <h2 id="payload">Webhook payload</h2>
        <a class="button secondary" href={path} download>
          Download
        </a>
      </div>
      {!(isWhole && payload.isWhole) && (
        <p class="quiet">
          Only the first {sizeInWords(maxShownBytes)} are shown. The download has all of it.
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling area */}
      <pre class="payload" tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}

/** A stranger's JSON as a file: browsers must not render it. */
export function payloadDownload(payload: Buffer, filename: string): HTTPResponse {
  return new HTTPResponse(payload as Buffer<ArrayBuffer>, {
    headers: {
      "content-type": "application/json",
      "content-disposition": `attachment; filename="${filename}"`,
      "cache-control": "private, no-store",
    },
  });
}

/**
 * Indents JSON. Does not parse it: that would change big numbers and drop duplicate keys.
 * @param limit approximate length of the result
 */
export function indent(json: string, limit: number): { text: string; isWhole: boolean } {
  let depth = 0;
  let text = "";
  let isJustOpened = false;
  for (const token of tokenize(json)) {
    const isClosing = token === "}" || token === "]";
    if (isClosing) depth--;
    if (isJustOpened !== isClosing) text += lineBreak(depth); // `{}` and `[]` stay on one line
    isJustOpened = token === "{" || token === "[";
    if (isJustOpened) depth++;

    text += token === ":" ? ": " : token;
    if (token === ",") text += lineBreak(depth);
    if (text.length > limit) return { text: truncate(text, limit), isWhole: false };
  }
  return { text, isWhole: true };
}

/** Scans strings by hand: a regular expression overflows its stack on megabytes. */
function* tokenize(json: string): Generator<string> {
  const token = /"|[{}[\],:]|[^\s{}[\],:"]+/g;
  for (let found = token.exec(json); found; found = token.exec(json)) {
    if (found[0] === '"') token.lastIndex = endOfString(json, found.index);
    yield json.slice(found.index, token.lastIndex);
  }
}

function endOfString(json: string, start: number): number {
  let index = start + 1;
  while (index < json.length && json[index] !== '"') index += json[index] === "\\" ? 2 : 1;
  return index + 1;
}

/** Never cuts a surrogate pair in half. */
function truncate(text: string, limit: number): string {
  return text.slice(0, limit).replace(/[\ud800-\udbff]$/, "");
}

function lineBreak(depth: number): string {
  return `\n${"  ".repeat(Math.min(depth, maxIndent))}`;
}
