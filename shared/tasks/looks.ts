import { secondMs } from "../durations.ts";
import { openLoopPauses } from "../process/loop-pauses.ts";
import type { Services } from "../process/services.ts";

/** Without Redis nobody wakes workers: they find work that others made due by looking. */
const lookEveryMs = secondMs;
const maxOwnersOfRound = 1000;

export interface Looks {
  /** Looks at once, or once more after the present look. */
  wake(): void;
  /** Resolves once no look runs. */
  idle(): Promise<void>;
  /** Starts no further look. */
  close(): Promise<void>;
}

/**
 * Looks for due work each second, and when it is woken.
 * @param look returns true if there may be more
 */
export function openLooks({ log }: Services, look: () => Promise<boolean>): Looks {
  let running: Promise<void> | undefined;
  let isWoken = false;
  let isClosed = false;
  const lookWhileMore = async () => {
    try {
      while (isWoken && !isClosed) {
        isWoken = false;
        if (await look()) isWoken = true;
      }
    } catch (error) {
      log.debug({ err: error }, "could not look for due work; will look again in a second");
    }
    running = undefined;
  };
  const wake = () => {
    isWoken = true;
    if (!isClosed) running ??= lookWhileMore();
  };
  const timer = setInterval(wake, lookEveryMs);
  timer.unref();
  return {
    wake,
    async idle() {
      while (running) await running;
    },
    async close() {
      isClosed = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** Returns a function that lists the next owners in the order of their ids, and begins anew after the last one. */
export function openRounds(
  findNext: (after: string | undefined) => Promise<string | undefined>,
  max = maxOwnersOfRound,
): () => Promise<string[]> {
  let last: string | undefined;
  return async () => {
    const owners: string[] = [];
    const pause = openLoopPauses();
    let mayBeginAnew = last !== undefined;
    while (owners.length < max) {
      await pause();
      const next = await findNext(last);
      if (next === undefined && !mayBeginAnew) break;
      if (next === undefined) mayBeginAnew = false;
      else if (next === owners[0]) break;
      else owners.push(next);
      last = next;
    }
    return owners;
  };
}
