import { isUtf8 } from "node:buffer";

export type PayloadProblem = "too_deep" | "invalid_json";

/** What a byte means to the scan below; 0 for nearly all of them. */
const [quote, backslash, open, close] = [1, 2, 3, 4];
const meanings = new Uint8Array(256);
for (const [characters, meaning] of [
  ['"', quote],
  ["\\", backslash],
  ["[{", open],
  ["]}", close],
] as const) {
  for (const character of characters) meanings[character.charCodeAt(0)] = meaning ?? 0;
}

/** What is wrong with a payload that must be UTF-8 JSON, not nested deeper than `maxDepth`; undefined: nothing. */
export function findPayloadProblem(body: Uint8Array, maxDepth: number): PayloadProblem | undefined {
  // Before parsing: five megabytes of `[` would keep the parser, and so the process, busy for half a second.
  if (isNestedDeeperThan(body, maxDepth)) return "too_deep";
  if (!isUtf8(body)) return "invalid_json";
  try {
    JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8"));
    return undefined;
  } catch {
    return "invalid_json";
  }
}

/** Counts brackets outside strings. In what is not JSON the count means nothing, which the parser then says. */
export function isNestedDeeperThan(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at++) {
    const meaning = meanings[json[at] as number];
    if (meaning === 0) continue;
    if (meaning === quote) isInString = !isInString;
    else if (isInString) {
      if (meaning === backslash) at++;
    } else if (meaning === open) {
      depth++;
      if (depth > maxDepth) return true;
    } else if (meaning === close) depth--;
  }
  return false;
}
