import { openLoopPauses } from "../process/loop-pauses.ts";
import type { Services } from "../services/services.ts";

const maxOwnersOfLook = 1000;

/** Work that rows of the database make due. */
export interface DueWork {
  /** Looks for it at once, or once more after the present look. A worker is woken by others, and each second. */
  wake(): void;
  /** Resolves once nothing runs. */
  idle(): Promise<void>;
  /** Starts nothing more: another process does the rest. */
  close(): Promise<void>;
}

/**
 * Looks for due work when it is woken.
 * @param look returns true if there may be more
 * @param started the work that looks start, and that may wake them: `idle` waits for it, too
 */
export function openLooks(
  { log }: Services,
  look: () => Promise<boolean>,
  started: readonly Pick<DueWork, "idle">[] = [],
): DueWork {
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
      log.warn({ err: error }, "could not look for due work; will look again");
    }
    running = undefined;
  };
  return {
    wake() {
      isWoken = true;
      if (!isClosed) running ??= lookWhileMore();
    },
    async idle() {
      do {
        await running;
        for (const each of started) await each.idle();
      } while (running);
    },
    async close() {
      isClosed = true;
      await running;
    },
  };
}

/** Visits organizations in the order of their ids, each once. The next call goes on behind the last one. */
export type Visits<Next> = (visit: (next: Next) => Promise<"go on" | "stop">) => Promise<void>;

/** @param findNext finds the next organization that has work */
export function openVisits<Next extends { organizationId: string }>(
  findNext: (after: string | undefined) => Promise<Next | undefined>,
): Visits<Next> {
  let last: string | undefined;
  return async (visit) => {
    const pause = openLoopPauses();
    const begunBehind = last;
    let isAnew = last === undefined;
    for (let visited = 0; visited < maxOwnersOfLook; ) {
      await pause();
      const next = await findNext(last);
      if (next === undefined) {
        if (isAnew) return;
        isAnew = true;
        last = undefined;
        continue;
      }
      const { organizationId } = next;
      const hasComeRound = isAnew && begunBehind !== undefined && organizationId >= begunBehind;
      if (hasComeRound && organizationId !== begunBehind) return; // visited before it began anew
      last = organizationId;
      visited++;
      if ((await visit(next)) === "stop" || hasComeRound) return;
    }
  };
}
