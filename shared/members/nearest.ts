/** Longer names are no typing errors, and cost time. */
const maxLength = 40;

/** Returns the known name that a wrong one was probably meant to be: at most one or two letters differ. */
export function nearestName(wrong: string, known: Iterable<string>): string | undefined {
  if (wrong.length > maxLength) return undefined;
  let nearest: string | undefined;
  let least = wrong.length < 5 ? 2 : 3;
  for (const name of known) {
    const distance = Math.abs(name.length - wrong.length) < least ? distanceOf(wrong, name) : least;
    if (distance >= least) continue;
    nearest = name;
    least = distance;
  }
  return nearest;
}

/** The letters to add, leave out or replace, where two neighbors that changed places count as one. */
function distanceOf(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const kept = (last[j - 1] as number) + (isSame ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] as number) + 1 : kept;
      row.push(Math.min(kept, swapped, (last[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    [before, last] = [last, row];
  }
  return last[b.length] as number;
}
