import { isUtf8 } from "node:buffer";

export type PayloadProblem = "too_deep" | "invalid_json";

/** Meaning of each byte; 0 for nearly all. */
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

/** Returns undefined if the payload is JSON in UTF-8 and not nested deeper than `maxDepth`. */
export function findPayloadProblem(body: Uint8Array, maxDepth: number): PayloadProblem | undefined {
  // Before parsing: five megabytes of `[` would block the process in the parser for half a second.
  if (isNestedDeeperThan(body, maxDepth)) return "too_deep";
  if (!isUtf8(body)) return "invalid_json";
  try {
    JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8"));
    return undefined;
  } catch {
    return "invalid_json";
  }
}

/** Counts brackets outside strings. Meaningless unless the bytes are JSON. */
export function isNestedDeeperThan(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < json.length; index++) {
    const meaning = meanings[json[index] as number];
    if (meaning === 0) continue;
    if (meaning === quote) isInString = !isInString;
    else if (isInString) {
      if (meaning === backslash) index++;
    } else if (meaning === open) {
      depth++;
      if (depth > maxDepth) return true;
    } else if (meaning === close) depth--;
  }
  return false;
}
