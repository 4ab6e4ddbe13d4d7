const part = /\\[pP](?:\{[^}]*\}|.)|\\x\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(,?)(\d*)\}|./gsu;

/**
 * Estimates the parts of a pattern after its repetitions are written out, as the library does: compiling takes 10 µs a
 * part, and a short pattern may have 20,000. Never too few: an odd pattern counts as more than it has.
 */
export function patternSize(pattern: string): number {
  /** Sizes of the open groups, outermost first. */
  const groups = [0];
  let last = 0;
  for (const [text, min, comma, max] of pattern.matchAll(part)) {
    const group = groups.length - 1;
    if (text === "(") {
      groups.push(0);
      last = 0;
    } else if (text === ")" && group > 0) {
      last = (groups.pop() as number) + 1;
      groups[group - 1] = (groups[group - 1] as number) + last;
    } else if (min !== undefined) {
      const more = last * (repetitions(Number(min), comma === "," ? max : min) - 1);
      groups[group] = (groups[group] as number) + Math.max(0, more);
      last += Math.max(0, more);
    } else {
      last = text === ")" ? (groups[0] as number) : 1;
      groups[group] = (groups[group] as number) + 1;
    }
  }
  return groups.reduce((sum, size) => sum + size, 0);
}

/** An optional repetition has a branch of its own. */
function repetitions(min: number, max: string | undefined): number {
  return max ? min + 2 * Math.max(0, Number(max) - min) : min + 1;
}
