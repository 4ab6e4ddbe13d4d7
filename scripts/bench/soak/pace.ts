import { setTimeout as sleep } from "node:timers/promises";

const tickMs = 10;
/** A program that hangs must not fill the memory of its callers. */
const maxOpen = 1000;

/** Begins work at a steady rate, whether earlier work has ended or not. Resolves once all has ended. */
export async function keepPace(
  perSecond: number,
  seconds: number,
  work: (number: number) => Promise<void>,
): Promise<void> {
  const open = new Set<Promise<void>>();
  const startedAt = performance.now();
  const elapsed = () => Math.min(seconds, (performance.now() - startedAt) / 1000);
  let begun = 0;
  for (let isOver = false; !isOver; await sleep(tickMs)) {
    isOver = elapsed() === seconds;
    for (const due = Math.floor(elapsed() * perSecond); begun < due; begun++) {
      if (open.size >= maxOpen) continue;
      const one = work(begun).finally(() => open.delete(one));
      open.add(one);
    }
  }
  await Promise.all(open);
}
