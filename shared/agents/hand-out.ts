import { setTimeout as sleep } from "node:timers/promises";
import { clearPausedQueue, refreshIsPaused } from "../builds/pause-store.ts";
import { lockBuilds } from "../builds/progress-store.ts";
import type { Build, Job } from "../builds/store.ts";
import { hashToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { lockQueueIfDispatching } from "../dispatch/store.ts";
import { minuteMs, secondMs } from "../durations.ts";
import { findQueueById } from "../queues/store.ts";
import type { Topic } from "../redis/events.ts";
import { createBatcher, gatherWhileGrowing } from "../runtime/batcher.ts";
import type { Services } from "../runtime/services.ts";
import { leasedJobStates } from "../vocabulary.ts";
import {
  assignIfScheduled,
  listAgentsOfJobs,
  listJobsById,
  listQueuesWithWork,
  listWaitingJobs,
  type WaitingJob,
} from "./lease-store.ts";
import { type Agent, connectIfNot, listAgentsByTokenHash, listReadyAgents, reserveIfFree } from "./store.ts";

/** The answer to a ping. */
export type PingAnswer =
  | { action: "run"; jobId: string }
  | { action: "idle" }
  | { action: "pause" | "disconnect"; message: string }
  /** The session is over. */
  | { action: "unknown" }
  /** The agent runs this job no longer, or it would not ping. */
  | { action: "dropped"; agent: Agent; jobId: string };

export interface HandOut {
  /** Reserves a job for the agent of a session token, if one waits. */
  ping(token: string): Promise<PingAnswer>;
}

const maxPings = 500;
/** Idle agents share reads: a thousand of them cost as little as twenty reads a second. */
const idleGatherMs = 40;
/** Jobs of a queue that one transaction looks at, beyond those for the agents that ping. */
const spareJobs = 20;
const maxReadyAgents = 100;
/** An agent repeats a request for a minute: its ping may be older than its job. */
const droppedAfterMs = minuteMs;
/** A retried job waits this long for the agent that should have it. */
const affinityMs = 10 * secondMs;

/**
 * Pings that arrive together share a read, and those with work a transaction. It locks each queue, so that a pause
 * comes before or after it, then builds, then jobs.
 */
export function openHandOut(services: Services): HandOut {
  let hasWork = false;
  const batcher = createBatcher<string, PingAnswer>({
    maxItems: maxPings,
    gather: (countWaiting) => (hasWork ? gatherWhileGrowing(countWaiting) : sleep(idleGatherMs)),
    flush: async (hashes) => {
      const answers = await answerPings(services, hashes);
      hasWork = answers.some(({ action }) => action === "run");
      return answers;
    },
  });
  return { ping: (token) => batcher.add(hashToken(token)) };
}

async function answerPings(services: Services, hashes: string[]): Promise<PingAnswer[]> {
  const { db, clock } = services;
  const now = clock.now();
  const agents = await listAgentsByTokenHash(db, { hashes: [...new Set(hashes)] });
  const jobIds = agents.flatMap(({ jobId }) => jobId ?? []);
  const jobs = new Map(
    jobIds.length > 0 ? (await listJobsById(db, { ids: jobIds })).map((job) => [job.id, job]) : [],
  );
  const answers = new Map<string, PingAnswer>();
  const free: Agent[] = [];
  for (const agent of agents) {
    const answer = answerWithoutWork(agent, jobs.get(agent.jobId ?? ""), now);
    if (answer) answers.set(agent.tokenHash, answer);
    else free.push(agent);
  }
  for (const [hash, jobId] of await reserveJobs(services, free)) answers.set(hash, { action: "run", jobId });
  for (const { tokenHash } of free) if (!answers.has(tokenHash)) answers.set(tokenHash, { action: "idle" });
  return hashes.map((hash) => answers.get(hash) ?? { action: "unknown" });
}

/** Returns undefined for an agent that is free to take a job. */
function answerWithoutWork(agent: Agent, job: Job | undefined, now: Date): PingAnswer | undefined {
  if (agent.state === "disconnected") return { action: "unknown" };
  if (agent.stopRequestedAt) return { action: "disconnect", message: "The agent was asked to stop" };
  if (isPaused(agent, now)) return { action: "pause", message: agent.pausedNote ?? "The agent is paused" };
  if (job && job.agentId === agent.id && leasedJobStates.includes(job.state)) {
    if (job.state === "assigned") return { action: "run", jobId: job.id };
    const since = job.startedAt ?? job.acceptedAt ?? now;
    const isDropped = now.getTime() - since.getTime() > droppedAfterMs;
    return isDropped ? { action: "dropped", agent, jobId: job.id } : { action: "idle" };
  }
  return agent.ignoreInDispatches ? { action: "idle" } : undefined;
}

export function isPaused({ pausedAt, pausedUntil }: Agent, now: Date): boolean {
  return pausedAt !== null && (pausedUntil === null || pausedUntil > now);
}

/** @returns job ids by the token hash of their agents */
async function reserveJobs(services: Services, free: Agent[]): Promise<Map<string, string>> {
  const { db, clock, events } = services;
  const away = free.filter(({ state }) => state !== "connected");
  if (away.length > 0) await db.transaction(async (tx) => connectAll(tx, away, clock.now()));

  const byQueue = Map.groupBy(free, ({ queueId }) => queueId);
  if (byQueue.size === 0) return new Map();
  const queueIds = (await listQueuesWithWork(db, { ids: [...byQueue.keys()] })).map(({ id }) => id);
  if (queueIds.length === 0) return new Map();

  const { reserved, topics } = await db.transaction(async (tx) => {
    const reservations: Reservation[] = [];
    for (const queueId of queueIds.toSorted()) {
      const agents = byQueue.get(queueId) ?? [];
      reservations.push(...(await reserveInQueue(tx, queueId, agents, clock.now())));
    }
    return {
      reserved: new Map(reservations.map(({ agent, job }) => [agent.tokenHash, job.id])),
      topics: reservations.flatMap(({ job }): Topic[] => [`build:${job.buildId}`]),
    };
  });
  if (reserved.size > 0) events.publish([...topics, ...queueIds.map((id): Topic => `queue:${id}`)]);
  return reserved;
}

async function connectAll(tx: Tx, agents: Agent[], now: Date): Promise<void> {
  for (const { id } of agents) await connectIfNot(tx, id, now);
}

interface Reservation {
  agent: Agent;
  job: WaitingJob;
}

async function reserveInQueue(tx: Tx, queueId: string, agents: Agent[], now: Date): Promise<Reservation[]> {
  if (!(await lockQueueIfDispatching(tx, queueId))) return [];
  const waiting = await listWaitingJobs(tx, queueId, agents.length + spareJobs);
  const isAllowed = await findAffinity(tx, queueId, waiting, now);
  const chosen = choose(waiting, agents, isAllowed);
  const builds = await lockBuilds(tx, [...new Set(chosen.map(({ job }) => job.buildId))]);

  const reservations: Reservation[] = [];
  for (const { agent, job } of chosen) {
    if (!(await reserveIfFree(tx, agent, job.id, now))) continue;
    // A cancel may have come between the list and the lock.
    if (await assignIfScheduled(tx, job.id, agent.id, now)) reservations.push({ agent, job });
  }
  await clearPauses(tx, queueId, builds, reservations);
  return reservations;
}

/** Gives each agent the first job that it may take. */
function choose(
  waiting: WaitingJob[],
  agents: Agent[],
  isAllowed: (job: WaitingJob, agent: Agent) => boolean,
): Reservation[] {
  const left = [...waiting];
  return agents.flatMap((agent) => {
    const index = left.findIndex((job) => isAllowed(job, agent));
    return index === -1 ? [] : left.splice(index, 1).map((job) => ({ agent, job }));
  });
}

/** Just resumed: the fan-out reads only waiting jobs, so it misses the builds of these. */
async function clearPauses(
  tx: Tx,
  queueId: string,
  builds: Build[],
  reservations: Reservation[],
): Promise<void> {
  const changed = new Set(reservations.map(({ job }) => job.buildId));
  const marked = builds.filter(({ id, pausedQueueId }) => changed.has(id) && pausedQueueId !== null);
  const ids = marked.filter(({ pausedQueueId }) => pausedQueueId === queueId).map(({ id }) => id);
  if (ids.length > 0) await clearPausedQueue(tx, ids, queueId);
  if (marked.length > 0)
    await refreshIsPaused(
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

  return ({ retryOfJobId, scheduledAt }: WaitingJob, agent: Agent): boolean => {
    if (retryOfJobId === null) return true;
    if (queue?.retryAgentAffinity === "prefer-different")
      return failedBy.get(retryOfJobId) !== agent.id || !ready.some(({ id }) => id !== agent.id);
    const waitedMs = now.getTime() - (scheduledAt ?? now).getTime();
    return !warmest || warmest.id === agent.id || waitedMs >= affinityMs;
  };
}
