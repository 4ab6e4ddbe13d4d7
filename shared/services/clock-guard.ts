import type { Db } from "../db/database.ts";
import { findSharedValue, putSharedValue } from "../db/shared-values-store.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../durations.ts";
import type { Services } from "./services.ts";

// A clock that is days ahead makes young rows look old. While a clock is in doubt, nothing is deleted by age.

/** The clocks of machines differ by less. */
const toleranceMs = minuteMs;
/** After a longer time without workers, a pause looks like a jump of the clock. */
const maxPauseMs = 2 * dayMs;
/** Time for an operator to look. */
const doubtMs = hourMs;

const names = { doubt: "clock_doubt", trusted: "clock_trusted_at", accepted: "clock_accepted_at" };

export interface ClockGuard {
  /** Returns false while nothing may be deleted by age. Logs each change, and stores it for `findClockDoubt`. */
  isTrusted(): Promise<boolean>;
  /**
   * Returns false while the clock differs from those of the servers. A past jump, such as that of a suspended machine,
   * does not count: work that is due in minutes cannot wait for an hour.
   */
  isRight(): Promise<boolean>;
}

/** @param monotonicMs milliseconds that no change of the clock moves */
export function openClockGuard(
  services: Services,
  monotonicMs: () => number = () => performance.now(),
): ClockGuard {
  const { clock, db, log, metrics } = services;
  const offset = () => clock.now().getTime() - monotonicMs();
  let lastOffset = offset();
  let jump: { reason: string; sinceMs: number } | undefined;
  let lastDoubt: string | undefined;

  const findJump = async (): Promise<string | undefined> => {
    const jumpMs = offset() - lastOffset;
    lastOffset += jumpMs;
    const reason = Math.abs(jumpMs) > toleranceMs ? jumpReason(jumpMs) : jump ? undefined : await findPause();
    if (reason) jump = { reason, sinceMs: monotonicMs() };
    if (jump && (monotonicMs() - jump.sinceMs > doubtMs || (await wasAccepted()))) jump = undefined;
    return jump?.reason;
  };

  const findPause = async (): Promise<string | undefined> => {
    const trustedAt = Date.parse((await findSharedValue(db, names.trusted)) ?? "");
    const pauseMs = clock.now().getTime() - trustedAt;
    return pauseMs > maxPauseMs ? `no worker has run for ${Math.round(pauseMs / dayMs)} days` : undefined;
  };

  const wasAccepted = async (): Promise<boolean> => {
    const acceptedAt = Date.parse((await findSharedValue(db, names.accepted)) ?? "");
    return Math.abs(clock.now().getTime() - acceptedAt) < doubtMs;
  };

  return {
    isRight: async () => (await findClockDifference(services)) === undefined,
    async isTrusted() {
      const doubt = (await findJump()) ?? (await findClockDifference(services));
      await db.transaction(async (tx) => {
        await putSharedValue(tx, names.doubt, doubt ?? "");
        if (!doubt) await putSharedValue(tx, names.trusted, clock.now().toISOString());
      });
      metrics.clockDoubted.set(doubt ? 1 : 0);
      if (doubt && doubt !== lastDoubt)
        log.error({ doubt }, "nothing is deleted by age: check the clock, then run admin clock accept");
      if (!doubt && lastDoubt) log.info("the clock is trusted again");
      lastDoubt = doubt;
      return !doubt;
    },
  };
}

/** Returns a sentence if this machine's clock is not that of the servers. */
export async function findClockDifference(services: Services): Promise<string | undefined> {
  const { clock, db } = services;
  const servers = { database: await db.readClock(), Redis: await services.readRedisClock() };
  for (const [server, time] of Object.entries(servers)) {
    const differenceMs = time ? clock.now().getTime() - time.getTime() : 0;
    if (Math.abs(differenceMs) > toleranceMs)
      return `this machine's clock differs by ${inSeconds(differenceMs)} from that of ${server}`;
  }
  return undefined;
}

/** Returns why workers delete nothing by age. */
export async function findClockDoubt(db: Db): Promise<string | undefined> {
  return (await findSharedValue(db, names.doubt)) || undefined;
}

/** An operator has seen that the clock is right. Workers believe it while their clocks agree with this one. */
export async function acceptClock({ db, clock }: Services): Promise<Date> {
  const now = clock.now();
  await db.transaction((tx) => putSharedValue(tx, names.accepted, now.toISOString()));
  return now;
}

function jumpReason(jumpMs: number): string {
  return `the clock jumped ${jumpMs > 0 ? "ahead" : "back"} by ${inSeconds(jumpMs)}`;
}

function inSeconds(ms: number): string {
  return `${Math.round(Math.abs(ms) / secondMs)} s`;
}
