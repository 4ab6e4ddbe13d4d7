import { findQueueWithWaitingJobs } from "../../shared/agents/lease-store.ts";
import { countConnectedAgents, listJobsOfQueue } from "../../shared/agents/list-store.ts";
import type { Db } from "../../shared/db/database.ts";
import { countJobsOfQueues } from "../../shared/dispatch/store.ts";
import { secondsBetween } from "../../shared/durations.ts";
import { openLoopPauses } from "../../shared/process/loop-pauses.ts";
import type { QueueLabels } from "../../shared/process/metrics/installation.ts";
import { listQueuesWithOwners } from "../../shared/queues/store.ts";
import type { Services } from "../../shared/services/services.ts";

/** The limit of queues with series of their own. */
export const maxNamed = 20;
/** The limit of queues that are looked at. */
const maxQueues = 200;
/** The limit of jobs that are counted of each queue. */
const maxJobs = 1000;
const maxAgents = 5000;

/** The labels of all other queues together. */
const rest: QueueLabels = { organization: "", cluster: "", queue: "(other)" };

interface Measured {
  id: string;
  waiting: number;
  running: number;
  agents: number;
  /** The age of the oldest waiting job, in seconds. */
  oldest: number;
}

/**
 * Measures queues. Those with most waiting jobs get series of their own. Other queues share one, with the sum of their
 * jobs and the highest age.
 */
export async function measureQueues({ db, clock, metrics }: Services): Promise<void> {
  const measured = await countOfQueues(db, clock.now());
  measured.sort((a, b) => b.waiting - a.waiting || b.running - a.running || b.agents - a.agents);
  const named = measured.slice(0, maxNamed);
  const withOwners = await listQueuesWithOwners(
    db,
    measured.map(({ id }) => id),
  );

  const { waitingJobs, runningJobs, oldestWaiting, agents, pausedQueues } = metrics.installation;
  for (const gauge of [waitingJobs, runningJobs, oldestWaiting, agents, pausedQueues]) gauge.reset();
  let oldestOfRest = 0;
  for (const each of measured) {
    const known = withOwners.get(each.id);
    const isNamed = known !== undefined && named.includes(each);
    const labels = isNamed
      ? { organization: known.organization, cluster: known.cluster.name, queue: known.queue.key }
      : rest;
    waitingJobs.inc(labels, each.waiting);
    runningJobs.inc(labels, each.running);
    agents.inc(labels, each.agents);
    pausedQueues.inc(labels, known?.queue.dispatchPausedAt ? 1 : 0);
    if (!isNamed) oldestOfRest = Math.max(oldestOfRest, each.oldest);
    oldestWaiting.set(labels, isNamed ? each.oldest : oldestOfRest);
  }
}

async function countOfQueues(db: Db, now: Date): Promise<Measured[]> {
  const agents = await countConnectedAgents(db, maxAgents);
  const withAgents = [...agents].sort(([, one], [, other]) => other - one).map(([id]) => id);
  const ids = [...new Set([...(await listQueuesWithWaitingJobs(db)), ...withAgents])].slice(0, maxQueues);
  const pause = openLoopPauses();
  const measured: Measured[] = [];
  for (const id of ids) {
    await pause();
    const counts = (await countJobsOfQueues(db, [id], maxJobs)).get(id) ?? { waiting: 0, running: 0 };
    const [first] = await listJobsOfQueue(db, id, ["scheduled"], { limit: 1 });
    const oldest = first?.job.scheduledAt ? secondsBetween(first.job.scheduledAt, now) : 0;
    measured.push({ id, ...counts, agents: agents.get(id) ?? 0, oldest });
  }
  return measured;
}

async function listQueuesWithWaitingJobs(db: Db): Promise<string[]> {
  const pause = openLoopPauses();
  const ids: string[] = [];
  while (ids.length < maxQueues) {
    await pause();
    const id = await findQueueWithWaitingJobs(db, ids.at(-1));
    if (id === undefined) break;
    ids.push(id);
  }
  return ids;
}
