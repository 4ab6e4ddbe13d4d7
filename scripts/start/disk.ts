import { existsSync, statfsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe } from "./cannot-start.ts";

const retryEveryMs = 1000;
/** Less, and SQLite and Redis cannot make their files. */
const minFreeBytes = 1024 * 1024;
const fullMessages = /ENOSPC|disk is full|no space left/i;

/**
 * Tries again while the disk is full.
 * @throws any other error of `work`; on a stop, the last one
 */
export async function whileDiskIsFull<T>(
  work: () => Promise<T>,
  { signal, say }: { signal: AbortSignal; say: (line: string) => void },
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isFull(error)) throw error;
      if (tries === 1) say("The disk is full. It starts as soon as there is room.");
      await sleep(retryEveryMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) throw error;
    }
  }
}

function isFull(error: unknown): boolean {
  if (fullMessages.test(describe(error))) return true;
  const { bavail, bsize } = statfsSync(existsSync("data") ? "data" : ".");
  return bavail * bsize < minFreeBytes;
}
