import { excerpt } from "../refusal.ts";

/** Unchanged lines around a change. */
const context = 2;
const maxLines = 200;
const maxCharacters = 8000;
const maxLineCharacters = 300;
/** Larger tables take too long: everything between the first and the last change is then replaced. */
const maxCells = 400_000;

/**
 * The lines in which two texts differ: `+` before a new one, `-` before one that is gone, a blank before one around them,
 * `…` in the place of lines that are left out.
 * @returns undefined if the texts are the same
 */
export function differenceOf(before: string, after: string): string | undefined {
  if (before === after) return undefined;
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const lines = [
    ...old.slice(0, start).map(kept),
    ...changedLines(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...old.slice(old.length - end).map(kept),
  ];
  return shorten(nearChanges(lines));
}

const kept = (line: string) => ` ${line}`;
const gone = (line: string) => `-${line}`;
const added = (line: string) => `+${line}`;

/** By the longest common subsequence of the lines. */
function changedLines(old: string[], fresh: string[]): string[] {
  if (old.length * fresh.length > maxCells) return [...old.map(gone), ...fresh.map(added)];
  const width = fresh.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    const [one, other] = [old[i], fresh[j]];
    if (one !== undefined && one === other) {
      lines.push(kept(one));
      [i, j] = [i + 1, j + 1];
    } else if (one !== undefined && (other === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(gone(one));
      i++;
    } else {
      lines.push(added(other ?? ""));
      j++;
    }
  }
  return lines;
}

function nearChanges(lines: string[]): string[] {
  const near = new Set<number>();
  for (const [index, line] of lines.entries())
    if (!line.startsWith(" ")) for (let at = index - context; at <= index + context; at++) near.add(at);
  return lines.flatMap((line, index) => {
    if (near.has(index)) return [line];
    return near.has(index - 1) ? ["…"] : [];
  });
}

function shorten(lines: string[]): string {
  let characters = 0;
  const shown = lines.slice(0, maxLines).flatMap((line) => {
    const cut = excerpt(line, maxLineCharacters);
    characters += cut.length;
    return characters > maxCharacters ? [] : [cut];
  });
  return shown.length < lines.length ? [...shown, "…"].join("\n") : shown.join("\n");
}

/** The names of the variables that changed, never their values: `~` before one that has another value. */
export function differenceOfNames(
  before: Record<string, string>,
  after: Record<string, string>,
): string | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const lines = names.flatMap((name) => {
    if (before[name] === after[name]) return [];
    if (before[name] === undefined) return [added(name)];
    return [after[name] === undefined ? gone(name) : `~${name}`];
  });
  return lines.length > 0 ? shorten(lines) : undefined;
}
