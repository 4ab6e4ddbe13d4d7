/** The scopes of a `scope` parameter (RFC 6749 §3.3): separated by spaces, each counted once. */
export function readScopes(text: string): string[] {
  return [...new Set(text.split(" ").filter((scope) => scope !== ""))];
}
