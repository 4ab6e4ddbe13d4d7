/** Longer work had better be done elsewhere, which costs about this much: it counts as more, so that little is done. */
const longMs = 0.2;
const longFactor = 10;

/**
 * Lets short work, which cannot be cut, take a share of the event loop's time. The last piece of a burst may exceed it.
 * @param share of the time, from 0 to 1
 * @param maxBurstMs of work without a rest
 * @returns a function that runs the work; undefined, without running it, if the share is used up
 */
export function openLoopShare(
  share: number,
  maxBurstMs: number,
): <Result>(work: () => Result) => Result | undefined {
  let leftMs = maxBurstMs;
  let countedAt = performance.now();
  return (work) => {
    const startedAt = performance.now();
    leftMs = Math.min(maxBurstMs, leftMs + (startedAt - countedAt) * share);
    countedAt = startedAt;
    if (leftMs <= 0) return undefined;
    const result = work();
    const tookMs = performance.now() - startedAt;
    leftMs -= tookMs > longMs ? tookMs * longFactor : tookMs;
    return result;
  };
}
