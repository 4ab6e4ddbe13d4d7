import { isUtf8 } from "node:buffer";
import { DeliveryRefusal } from "../../shared/triggers/refusals.ts";

const [quote, backslash] = [0x22, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The payload must be UTF-8 JSON, not nested deeper than `maxDepth`.
 * @throws DeliveryRefusal
 */
export function requireWellFormed(body: Buffer, maxDepth: number): void {
  // Before parsing: five megabytes of `[` would keep the parser, and so the process, busy for half a second.
  if (isDeeperThan(body, maxDepth)) throw new DeliveryRefusal("too_deep");
  if (!isUtf8(body)) throw new DeliveryRefusal("invalid_json");
  try {
    JSON.parse(body.toString("utf8"));
  } catch {
    throw new DeliveryRefusal("invalid_json");
  }
}

/** Counts brackets outside strings. In what is not JSON the count means nothing, which the parser then says. */
export function isDeeperThan(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (isInString) {
      if (byte === backslash) at++;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if (byte === openBracket || byte === openBrace) {
      depth++;
      if (depth > maxDepth) return true;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
  return false;
}
