/** What a page shows of a payload; the whole of it is a download away. */
const maxCharacters = 256 * 1024;
/** Beyond this depth lines are not indented further: they would consist of spaces only. */
const maxIndent = 24;

/** The webhook's payload, formatted for reading. The download is exactly what came. */
export function PayloadView({ payload, path }: { payload: string; path: string }) {
  const { text, isWhole } = indent(payload, maxCharacters);
  return (
    <section aria-labelledby="payload">
      <div class="heading">
        <h2 id="payload">Webhook payload</h2>
        <a class="button secondary" href={path} download>
          Download
        </a>
      </div>
      {!isWhole && <p class="quiet">Only the first 256 KB are shown. The download has all of it.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre class="payload" tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}

/** `812 bytes`, `3.4 KB`, `5 MB`. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const [amount, unit] = bytes < 1024 * 1024 ? [bytes / 1024, "KB"] : [bytes / 1024 / 1024, "MB"];
  return `${Math.round(amount * 10) / 10} ${unit}`;
}

/**
 * JSON with line breaks and indentation, its tokens untouched: to parse it and write it again would change big
 * numbers and drop duplicate keys.
 * @param limit about how many characters are enough
 */
export function indent(json: string, limit: number): { text: string; isWhole: boolean } {
  let depth = 0;
  let text = "";
  let isJustOpened = false;
  for (const token of tokensOf(json)) {
    const isClosing = token === "}" || token === "]";
    if (isClosing) depth--;
    if (isJustOpened !== isClosing) text += lineBreak(depth); // `{}` and `[]` stay on one line
    isJustOpened = token === "{" || token === "[";
    if (isJustOpened) depth++;

    text += token === ":" ? ": " : token;
    if (token === ",") text += lineBreak(depth);
    if (text.length > limit) return { text: cut(text, limit), isWhole: false };
  }
  return { text, isWhole: true };
}

/** Strings are found without a regular expression: on one of many megabytes its stack would overflow. */
function* tokensOf(json: string): Generator<string> {
  const token = /"|[{}[\],:]|[^\s{}[\],:"]+/g;
  for (let found = token.exec(json); found; found = token.exec(json)) {
    if (found[0] === '"') token.lastIndex = endOfString(json, found.index);
    yield json.slice(found.index, token.lastIndex);
  }
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Never through the middle of a character. */
function cut(text: string, limit: number): string {
  return text.slice(0, limit).replace(/[\ud800-\udbff]$/, "");
}

function lineBreak(depth: number): string {
  return `\n${"  ".repeat(Math.min(depth, maxIndent))}`;
}
