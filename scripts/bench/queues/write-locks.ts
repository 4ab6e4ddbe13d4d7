/** The histogram `signalbox_write_lock_seconds` of a process. */
export interface WriteLocks {
  count: number;
  seconds: number;
  /** Cumulative counts by upper bound; the last one is infinite. */
  upTo: [seconds: number, count: number][];
}

/** A bound of the histogram: others should wait no longer. */
export const maxLock = { ms: 50, aim: "0" };

/** @param port for metrics */
export async function readWriteLocks(port: string): Promise<WriteLocks> {
  return parseWriteLocks(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
}

/** @param text the metrics of a process */
export function parseWriteLocks(text: string): WriteLocks {
  const numberOf = (name: string) =>
    Number(new RegExp(`^signalbox_write_lock_seconds_${name}\\{.*\\} (.+)$`, "m").exec(text)?.[1]);
  const buckets = text.matchAll(/^signalbox_write_lock_seconds_bucket\{le="([^"]+)".*\} (.+)$/gm);
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
  const upTo = after.upTo.map(
    ([bound, reached], index) => [bound, reached - (before.upTo[index]?.[1] ?? 0)] as const,
  );
  const within = upTo.find(([, reached]) => reached === count);
  const short = upTo.find(([bound]) => bound === maxLock.ms / 1000)?.[1] ?? Number.NaN;
  return {
    count,
    meanMs: ((after.seconds - before.seconds) / count) * 1000,
    maxMs: (within?.[0] ?? Number.NaN) * 1000,
    longer: count - short,
  };
}
