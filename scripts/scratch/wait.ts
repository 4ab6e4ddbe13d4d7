import { setTimeout as sleep } from "node:timers/promises";

/** Looks again and again. Returns false if it is not so within the time. */
export async function isSoon(
  look: () => boolean | Promise<boolean>,
  { everyMs = 20, withinMs = Number.POSITIVE_INFINITY } = {},
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await look())) {
    if (performance.now() > deadline) return false;
    await sleep(everyMs);
  }
  return true;
}
