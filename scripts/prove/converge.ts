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

const lookEveryMs = 250;
const answerWithinMs = 5000;

/**
 * Waits until all addresses and agents are ready.
 * @param listMissing names the agents that have not connected
 * @throws RunFailed that names what is not ready after the time
 */
export async function awaitReadiness(
  urls: string[],
  listMissing: () => string[] | Promise<string[]> = () => [],
  withinMs = 180_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const [missing, problems] = await Promise.all([
      (async () => listMissing())().catch((error: Error) => [`agents: ${error.message}`]),
      Promise.all(urls.map(problemOf)),
    ]);
    const unready = [...missing, ...problems.filter((problem) => problem !== undefined)];
    if (unready.length === 0) return;
    if (performance.now() > deadline)
      throw new RunFailed(
        `The installation is not ready after ${withinMs / 1000} s. Not ready: ${unready.join("; ")}`,
      );
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
  return (await Promise.all(urls.map(problemOf))).every((problem) => problem === undefined);
}

/** A doubted clock is not waited for: it is trusted again after an hour. @returns undefined if an address is ready */
async function problemOf(url: string): Promise<string | undefined> {
  try {
    const { status, body, text } = await request(`${url}/readyz`, {
      signal: AbortSignal.timeout(answerWithinMs),
    });
    return status === 200 && body?.parts.redis === "ok" ? undefined : `${url}: ${status} ${text}`.trim();
  } catch (error) {
    return `${url}: ${error instanceof Error ? error.message : error}`;
  }
}

async function readFanOut({ db }: Services) {
  const { builds, jobs, queues } = db.tables;
  return {
    builds: await db.select().from(builds),
    jobs: await db.select().from(jobs),
    queues: await db.select().from(queues),
  };
}
