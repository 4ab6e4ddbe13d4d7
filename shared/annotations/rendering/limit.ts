const kb = 1024;

/**
 * The most characters of HTML that a body may become: 8 for each byte, and from 256 KB on 3. Rows of a table with short
 * cells become three times as long. An address that is named once may stand in the HTML a thousand times.
 */
export function maxHtmlLength(body: string): number {
  const bytes = Buffer.byteLength(body);
  return Math.max(4 * kb, Math.min(8 * bytes, Math.max(256 * kb, 3 * bytes)));
}

/** To make as many takes half a second. */
const maxTokensOfAll = 200_000;

/**
 * The most tokens of Markdown, and tags of HTML, that a body may become. A token is three characters of HTML or more on
 * average: a cell is three tokens. A table with a wide head and short rows has cells without number, which would be made
 * before their HTML is found to be too long.
 */
export function maxTokens(body: string): number {
  return Math.min(maxTokensOfAll, maxHtmlLength(body) / 3);
}
