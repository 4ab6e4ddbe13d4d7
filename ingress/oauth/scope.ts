/** Splits a `scope` parameter at spaces, without duplicates (RFC 6749 §3.3). */
export function readScopes(text: string): string[] {
  return [...new Set(text.split(" ").filter((scope) => scope !== ""))];
}
