/** Quotes text for a shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A word of a command line, quoted if it has to be. */
export function wordForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteForShell(text);
}
