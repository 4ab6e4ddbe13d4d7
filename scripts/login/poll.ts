import type { Clock } from "../../shared/process/clock.ts";
import { RequestFailed } from "./failure.ts";

const slowDownMs = 5000;
const maxBackoffMs = 60_000;

/** Counts failures in a row. */
interface Pace {
  intervalMs: number;
  failures: number;
}

export interface Waiting {
  intervalMs: number;
  expiresAt: Date;
  clock: Clock;
  sleep: (ms: number) => Promise<void>;
  /** Called when answers cease to come. */
  onAway: () => void;
}

/**
 * The interval grows by 5 seconds at each `slow_down` (RFC 8628 §3.5), doubles without an answer, and respects
 * Retry-After.
 * @throws RequestFailed with the final answer, or `expired_token` when the time is over
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

/** Undefined if the answer is final. */
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

/** A late approval may still count: the last poll comes at or just past the expiry. */
function pauseAfter({ intervalMs, failures }: Pace, failure: RequestFailed, waiting: Waiting): number {
  const leftMs = waiting.expiresAt.getTime() - waiting.clock.now().getTime();
  if (leftMs <= 0) throw new RequestFailed("expired_token", { at: failure.at });
  const { retryAfterMs = 0 } = failure;
  if (retryAfterMs > leftMs) throw failure;

  const backoffMs = Math.min(intervalMs * 2 ** failures, maxBackoffMs, leftMs);
  return Math.max(intervalMs, backoffMs, retryAfterMs);
}
