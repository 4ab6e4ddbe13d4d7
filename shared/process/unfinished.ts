import { setTimeout as sleep } from "node:timers/promises";

/** Waits until all has ended, or the time is over. @returns the names of what has not ended */
export async function findUnfinished(
  ms: number,
  ending: Record<string, Promise<unknown>>,
): Promise<string[]> {
  const names = new Set(Object.keys(ending));
  const ended = Object.entries(ending).map(async ([name, end]) => {
    await end;
    names.delete(name);
  });
  await Promise.race([Promise.all(ended), sleep(ms, undefined, { ref: false })]);
  return [...names];
}
