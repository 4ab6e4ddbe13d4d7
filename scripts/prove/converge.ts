import { setTimeout as sleep } from "node:timers/promises";
import type { Services } from "../../shared/process/services.ts";
import { request } from "../scratch/http.ts";
import { RunFailed } from "../scratch/scratch.ts";
import type { Reachable } from "./installation/installation.ts";
import { type Discrepancy, discrepancy } from "./ledger/discrepancy.ts";
import { checkFanOut } from "./ledger/fan-out.ts";
import { countDue, countUnfinished, countWaiting } from "./ledger/read.ts";

/** Milliseconds after the last fault. Undefined: not within the patience. */
export interface Convergence {
  /** All ingress processes answer that they, the database and Redis are fine. */
  readyMs: number | undefined;
  /** Every delivery is decided. */
  decidedMs: number | undefined;
  /** Every delivery is decided, and jobs and builds match the pauses of their queues. */
  fannedOutMs: number | undefined;
  /** Every delivery is decided, every job has ended, and nothing is due after it. */
  endedMs: number | undefined;
}

const startWithinMs = 180_000;
const lookEveryMs = 250;
const answerWithinMs = 5000;

/** Waits until all addresses and agents are ready. @throws RunFailed after three minutes */
export async function awaitReadiness(
  urls: string[],
  hasAgents: () => boolean | Promise<boolean> = () => true,
): Promise<void> {
  const deadline = performance.now() + startWithinMs;
  const isReached = async () => (await hasAgents()) && (await areReady(urls));
  while (!(await isReached().catch(() => false))) {
    if (performance.now() > deadline) throw new RunFailed("The installation does not get ready.");
    await sleep(lookEveryMs);
  }
}

/**
 * Waits until nothing is under way, or until it has waited long enough.
 * @param startedAt the end of the last fault
 */
export async function awaitConvergence(
  installation: Reachable,
  services: Services,
  { startedAt, patienceMs }: { startedAt: number; patienceMs: number },
): Promise<Convergence> {
  const first = async (isReached: () => Promise<boolean>): Promise<number | undefined> => {
    while (performance.now() - startedAt < patienceMs) {
      if (await isReached().catch(() => false)) return performance.now() - startedAt;
      await sleep(lookEveryMs);
    }
    return undefined;
  };
  const { db } = services;
  const isDecided = async () => (await countWaiting(db)) === 0;
  const [readyMs, decidedMs, fannedOutMs, endedMs] = await Promise.all([
    first(() => areReady(installation.urls)),
    first(isDecided),
    first(async () => (await isDecided()) && checkFanOut(await readFanOut(services)).length === 0),
    first(async () => (await isDecided()) && (await countUnfinished(db)) === 0 && (await countDue(db)) === 0),
  ]);
  return { readyMs, decidedMs, fannedOutMs, endedMs };
}

export function checkConvergence(convergence: Convergence, patienceMs: number): Discrepancy[] {
  return Object.values(convergence).includes(undefined)
    ? [discrepancy("convergence", `no convergence within ${patienceMs / 1000} s after the last fault`)]
    : [];
}

async function areReady(urls: string[]): Promise<boolean> {
  return (await Promise.all(urls.map(isReady))).every(Boolean);
}

/** A doubted clock is not waited for: it is trusted again after an hour. */
async function isReady(url: string): Promise<boolean> {
  const { status, body } = await request(`${url}/readyz`, { signal: AbortSignal.timeout(answerWithinMs) });
  return status === 200 && body.parts.redis === "ok";
}

async function readFanOut({ db }: Services) {
  const { builds, jobs, queues } = db.tables;
  return {
    builds: await db.select().from(builds),
    jobs: await db.select().from(jobs),
    queues: await db.select().from(queues),
  };
}
