import { refreshPauses } from "../builds/pause-store.ts";
import { lockBuilds } from "../builds/progress-store.ts";
import type { Build } from "../builds/store.ts";
import type { Tx } from "../db/database.ts";
import { lockQueueIfDispatching } from "../dispatch/store.ts";
import { secondMs } from "../durations.ts";
import { findQueueById } from "../queues/store.ts";
import { assignIfScheduled, listAgentsOfJobs, listWaitingJobs, type WaitingJob } from "./lease-store.ts";
import { listReadyAgents, type PingingAgent, reserveIfFree } from "./store.ts";

/** Jobs of a queue that one transaction looks at, beyond those for the agents that ping. */
const spareJobs = 20;
const maxReadyAgents = 100;
/** A retried job waits this long for the agent that should have it. */
const affinityMs = 10 * secondMs;

export interface Reservation {
  agent: PingingAgent;
  job: WaitingJob;
}

/** Gives free agents of a queue the jobs that have waited longest. Locks the queue, then builds, then jobs. */
export async function reserveInQueue(
  tx: Tx,
  queueId: string,
  agents: PingingAgent[],
  now: Date,
): Promise<Reservation[]> {
  if (!(await lockQueueIfDispatching(tx, { id: queueId }))) return [];
  const waiting = await listWaitingJobs(tx, { queueId, limit: agents.length + spareJobs });
  const isAllowed = await findAffinity(tx, queueId, waiting, now);
  const chosen = choose(waiting, agents, isAllowed);
  const builds = await lockBuilds(tx, [...new Set(chosen.map(({ job }) => job.buildId))]);

  const reservations: Reservation[] = [];
  for (const { agent, job } of chosen) {
    const { id, jobId: formerJobId } = agent;
    if (!(await reserveIfFree(tx, { id, jobId: job.id, formerJobId, now }))) continue;
    // A cancel may have come between the list and the lock.
    if (await assignIfScheduled(tx, { id: job.id, agentId: id, now })) reservations.push({ agent, job });
  }
  await clearPauses(tx, builds, reservations);
  return reservations;
}

/** Gives each agent the first job that it may take. */
function choose(
  waiting: WaitingJob[],
  agents: PingingAgent[],
  isAllowed: (job: WaitingJob, agent: PingingAgent) => boolean,
): Reservation[] {
  const left = [...waiting];
  return agents.flatMap((agent) => {
    const index = left.findIndex((job) => isAllowed(job, agent));
    return index === -1 ? [] : left.splice(index, 1).map((job) => ({ agent, job }));
  });
}

/** The queue was just resumed. The fan-out reads waiting jobs only, so it misses the builds of reserved jobs. */
async function clearPauses(tx: Tx, builds: Build[], reservations: Reservation[]): Promise<void> {
  const changed = new Set(reservations.map(({ job }) => job.buildId));
  const marked = builds.filter(({ id, pausedQueueId }) => changed.has(id) && pausedQueueId !== null);
  if (marked.length === 0) return;
  await refreshPauses(
    tx,
    marked.map(({ id }) => id),
  );
}

/**
 * Retried jobs have a preferred agent, by the queue's `retry_agent_affinity`: the one that finished a job last, for a
 * short while; or any but the one that failed it, while another is connected.
 */
async function findAffinity(tx: Tx, queueId: string, waiting: WaitingJob[], now: Date) {
  const retries = waiting.flatMap(({ retryOfJobId }) => retryOfJobId ?? []);
  if (retries.length === 0) return () => true;
  const queue = await findQueueById(tx, queueId);
  const ready = await listReadyAgents(tx, queueId, now, maxReadyAgents);
  const failedBy = await listAgentsOfJobs(tx, retries);
  const warmest = ready.find(({ jobId, lastJobFinishedAt }) => jobId === null && lastJobFinishedAt !== null);

  return ({ retryOfJobId, scheduledAt }: WaitingJob, agent: PingingAgent): boolean => {
    if (retryOfJobId === null) return true;
    if (queue?.retryAgentAffinity === "prefer-different")
      return failedBy.get(retryOfJobId) !== agent.id || !ready.some(({ id }) => id !== agent.id);
    const waitedMs = now.getTime() - (scheduledAt ?? now).getTime();
    return !warmest || warmest.id === agent.id || waitedMs >= affinityMs;
  };
}
