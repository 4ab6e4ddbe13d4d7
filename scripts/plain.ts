import { stripVTControlCharacters } from "node:util";

/** Strips control characters from a text of others: a terminal obeys them. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/[\p{Cc}\p{Cf}]/gu, "");
}
