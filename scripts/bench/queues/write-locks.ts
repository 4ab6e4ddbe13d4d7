/** What the histogram of `signalbox_write_lock_seconds` says of the transactions of a process so far. */
export interface WriteLocks {
  count: number;
  seconds: number;
  /** How many took at most so many seconds, by that number; the last is infinite. */
  upTo: [seconds: number, count: number][];
}

/** @param port of the process's metrics */
export async function readWriteLocks(port: string): Promise<WriteLocks> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const numberOf = (name: string) =>
    Number(new RegExp(`^signalbox_write_lock_seconds_${name} (.+)$`, "m").exec(text)?.[1]);
  const buckets = text.matchAll(/^signalbox_write_lock_seconds_bucket\{le="(.+)"\} (.+)$/gm);
  return {
    count: numberOf("count"),
    seconds: numberOf("sum"),
    upTo: [...buckets].map(([, bound, count]) => [
      bound === "+Inf" ? Infinity : Number(bound),
      Number(count),
    ]),
  };
}

/** Of the transactions between two readings: how many, their mean, and the bound that the longest is within. */
export function locksBetween(before: WriteLocks, after: WriteLocks) {
  const count = after.count - before.count;
  const within = after.upTo.find(([, reached], index) => reached - (before.upTo[index]?.[1] ?? 0) === count);
  return {
    count,
    meanMs: ((after.seconds - before.seconds) / count) * 1000,
    maxMs: (within?.[0] ?? Number.NaN) * 1000,
  };
}
