import type { Clock } from "../../shared/runtime/clock.ts";
import { RequestFailed } from "./failure.ts";

const slowDownMs = 5000;
const maxBackoffMs = 60_000;

/** How fast to poll: the interval that is agreed, and how many times in a row there was no answer. */
interface Pace {
  intervalMs: number;
  failures: number;
}

/** What the waiting for a decision goes by. */
export interface Waiting {
  intervalMs: number;
  expiresAt: Date;
  clock: Clock;
  sleep: (ms: number) => Promise<void>;
  /** Told when answers cease to come, each time. */
  onAway: () => void;
}

/**
 * Poll until the answer is yes (RFC 8628 §3.5): an interval before each poll, the first one too; 5 seconds more
 * from each `slow_down` on; twice as long after each poll that got no answer; and never before a Retry-After.
 * @throws RequestFailed with the answer that ended it, `expired_token` when the time is over
 */
export async function pollUntilApproved<T>(ask: () => Promise<T>, waiting: Waiting): Promise<T> {
  let pace: Pace = { intervalMs: waiting.intervalMs, failures: 0 };
  let pauseMs = pace.intervalMs;
  for (;;) {
    await waiting.sleep(pauseMs);
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      const next = paceAfter(pace, error);
      if (!next) throw error;
      if (next.failures > 0 && pace.failures === 0) waiting.onAway();
      pace = next;
      pauseMs = pauseAfter(pace, error, waiting);
    }
  }
}

/** Undefined: the answer is the last one. */
function paceAfter({ intervalMs, failures }: Pace, { code }: RequestFailed): Pace | undefined {
  switch (code) {
    case "authorization_pending":
      return { intervalMs, failures: 0 };
    case "slow_down":
      return { intervalMs: intervalMs + slowDownMs, failures: 0 };
    case "unreachable":
    case "unavailable":
      return { intervalMs, failures: failures + 1 };
    default:
      return undefined;
  }
}

/**
 * How long until the next poll. The last one is at the end of the time or just past it, because an approval in
 * the last moment may still count.
 */
function pauseAfter({ intervalMs, failures }: Pace, failure: RequestFailed, waiting: Waiting): number {
  const leftMs = waiting.expiresAt.getTime() - waiting.clock.now().getTime();
  if (leftMs <= 0) throw new RequestFailed("expired_token", { at: failure.at });
  const { retryAfterMs = 0 } = failure;
  if (retryAfterMs > leftMs) throw failure;

  const backoffMs = Math.min(intervalMs * 2 ** failures, maxBackoffMs, leftMs);
  return Math.max(intervalMs, backoffMs, retryAfterMs);
}
