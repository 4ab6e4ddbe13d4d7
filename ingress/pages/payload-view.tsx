/** What a page shows of a payload; the whole of it is a download away. */
const mostCharacters = 256 * 1024;
/** Beyond this depth lines are not indented further: they would consist of spaces only. */
const deepestIndent = 24;

/** The webhook's payload, formatted for reading. The download is exactly what came. */
export function PayloadView({ payload, path }: { payload: string; path: string }) {
  const { text, isWhole } = indent(payload, mostCharacters);
  return (
    <section aria-labelledby="payload">
      <div class="heading">
        <h2 id="payload">Webhook payload</h2>
        <a class="button secondary" href={path} download>
          Download
        </a>
      </div>
      {!isWhole && <p class="quiet">This is its beginning, 256 KB long. The download has all of it.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre class="payload" tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}

/**
 * JSON with line breaks and indentation, its tokens untouched: to parse it and write it again would change big
 * numbers and drop duplicate keys.
 * @param limit about how many characters are enough
 */
export function indent(json: string, limit: number): { text: string; isWhole: boolean } {
  const tokens = json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs);
  let depth = 0;
  let text = "";
  let isJustOpened = false;
  for (const [token] of tokens) {
    const isClosing = token === "}" || token === "]";
    if (isClosing) depth--;
    if (isJustOpened !== isClosing) text += lineBreak(depth); // `{}` and `[]` stay on one line
    isJustOpened = token === "{" || token === "[";
    if (isJustOpened) depth++;

    text += token === ":" ? ": " : token;
    if (token === ",") text += lineBreak(depth);
    if (text.length > limit) return { text: text.slice(0, limit), isWhole: false };
  }
  return { text, isWhole: true };
}

function lineBreak(depth: number): string {
  return `\n${"  ".repeat(Math.min(depth, deepestIndent))}`;
}
