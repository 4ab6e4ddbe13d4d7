/** Bytes of a log: from `start`, before `end`. */
export interface Range {
  start: number;
  end: number;
}

/** Returns what is left of a range without the stored bytes at its ends; undefined if all of it is stored. */
export function trimStored({ start, end }: Range, stored: Range[]): Range | undefined {
  for (const each of stored.toSorted((a, b) => a.start - b.start))
    if (each.start <= start) start = Math.max(start, each.end);
  for (const each of stored.toSorted((a, b) => b.end - a.end))
    if (each.end >= end) end = Math.min(end, each.start);
  return start < end ? { start, end } : undefined;
}

/** Joins a range with all ranges that touch it, also through other ranges. */
export function joinTouching(range: Range, others: Range[]): Range {
  const sorted = others.toSorted((a, b) => a.start - b.start);
  let { start, end } = range;
  for (const each of [...sorted, ...sorted.toReversed()]) {
    if (each.start > end || each.end < start) continue;
    start = Math.min(start, each.start);
    end = Math.max(end, each.end);
  }
  return { start, end };
}
