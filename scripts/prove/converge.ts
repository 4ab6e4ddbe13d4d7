import type { Services } from "../../shared/services/services.ts";
import { request } from "../scratch/http.ts";
import { RunFailed } from "../scratch/scratch.ts";
import { isSoon } from "../scratch/wait.ts";
import type { Reachable } from "./installation/installation.ts";
import { checkOf } from "./ledger/discrepancy.ts";
import { checkFanOut } from "./ledger/dispatch.ts";
import { countUnfinished, countUntold, countWaiting } from "./ledger/read.ts";

/** Milliseconds after the last fault, by what was waited for. Undefined: not within the patience. */
export type Convergence = Map<string, number | undefined>;

const everyMs = 250;
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
  let unready: string[] = [];
  const isReady = async () => {
    const listed = (async () => listMissing())();
    const missing = listed.catch((error: Error) => [`agents: ${error.message}`]);
    unready = (await Promise.all([missing, listUnready(urls)])).flat();
    return unready.length === 0;
  };
  if (await isSoon(isReady, { everyMs, withinMs })) return;
  const words = `The installation is not ready after ${withinMs / 1000} s.`;
  throw new RunFailed(`${words} Not ready: ${unready.join("; ")}`);
}

/**
 * Waits until nothing is under way, or until it has waited long enough.
 * @param startedAt the end of the last fault
 */
export async function awaitConvergence(
  { urls }: Reachable,
  { db }: Services,
  { startedAt, patienceMs }: { startedAt: number; patienceMs: number },
): Promise<Convergence> {
  const { builds, jobs, queues } = db.tables;
  const readFanOut = async () => ({
    builds: await db.select().from(builds),
    jobs: await db.select().from(jobs),
    queues: await db.select().from(queues),
  });
  const isDecided = async () => (await countWaiting(db)) === 0;
  const goals: Record<string, () => Promise<boolean>> = {
    "ingress processes, database and Redis are ready": async () => (await listUnready(urls)).length === 0,
    "every delivery is decided": isDecided,
    "jobs match the pauses of their queues": async () =>
      (await isDecided()) && checkFanOut(await readFanOut()).length === 0,
    "everybody is told": async () => (await isDecided()) && (await countUntold(db)) === 0,
    "every job has ended": async () => (await isDecided()) && (await countUnfinished(db)) === 0,
  };
  const withinMs = startedAt + patienceMs - performance.now();
  const reached = Object.entries(goals).map(async ([goal, isReached]) => {
    const isInTime = await isSoon(() => isReached().catch(() => false), { everyMs, withinMs });
    return [goal, isInTime ? performance.now() - startedAt : undefined] as const;
  });
  return new Map(await Promise.all(reached));
}

export const checkConvergence = checkOf(
  "convergence",
  function* (convergence: Convergence, patienceMs: number) {
    if ([...convergence.values()].includes(undefined))
      yield `no convergence within ${patienceMs / 1000} s after the last fault`;
  },
);

/** A doubted clock is not waited for: it is trusted again after an hour. */
async function listUnready(urls: string[]): Promise<string[]> {
  const problems = urls.map(async (url) => {
    try {
      const signal = AbortSignal.timeout(answerWithinMs);
      const { status, body, text } = await request(`${url}/readyz`, { signal });
      return status === 200 && body?.parts.redis === "ok" ? [] : [`${url}: ${status} ${text}`.trim()];
    } catch (error) {
      return [`${url}: ${error instanceof Error ? error.message : error}`];
    }
  });
  return (await Promise.all(problems)).flat();
}
