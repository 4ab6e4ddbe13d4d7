/** The histogram `signalbox_write_lock_seconds` of a process. */
export interface WriteLocks {
  count: number;
  seconds: number;
  /** Cumulative counts by upper bound; the last one is infinite. */
  upTo: [seconds: number, count: number][];
}

/** @param port for metrics */
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

export function locksBetween(before: WriteLocks, after: WriteLocks) {
  const count = after.count - before.count;
  const within = after.upTo.find(([, reached], index) => reached - (before.upTo[index]?.[1] ?? 0) === count);
  return {
    count,
    meanMs: ((after.seconds - before.seconds) / count) * 1000,
    maxMs: (within?.[0] ?? Number.NaN) * 1000,
  };
}
