import { indexOf } from "../text-search.ts";

/** Agents on Windows write paths, and ask for them, with backslashes. */
export function withSlashes(path: string): string {
  return path.replaceAll("\\", "/");
}

/**
 * Compares paths with a pattern: `*` is any run of characters, `/` too, and nothing else is special. Each text between
 * stars is looked for behind the one before, so no path is read twice.
 */
export function openPattern(pattern: string): (path: string) => boolean {
  const [first = "", ...others] = withSlashes(pattern).replaceAll(/\*+/g, "*").split("*");
  const last = others.pop();
  return (path) => {
    const text = withSlashes(path);
    if (last === undefined) return text === first;
    if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last))
      return false;
    const end = text.length - last.length;
    let at = first.length;
    for (const part of others) {
      const found = indexOf(text, part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return at <= end;
  };
}
