import type { Build } from "../../builds/rows/build-store.ts";
import { refreshPauses } from "../../builds/rows/pause-store.ts";
import { lockBuilds } from "../../builds/rows/progress-store.ts";
import type { Tx } from "../../db/database.ts";
import { lockQueueIfDispatching } from "../../dispatch/store.ts";
import { secondMs } from "../../durations.ts";
import { matchesAgentRules } from "../../pipelines/agent-rules.ts";
import { findQueueById } from "../../queues/store.ts";
import { assignIfIn, listAgentsOfJobs } from "../lease-store.ts";
import {
  type Agent,
  freeIfHas,
  listFreeAgents,
  listPreferredAgents,
  listReadyAgents,
  type PingingAgent,
  reserveIfFree,
} from "../store.ts";
import { listWaitingJobs, maxRuleSets, type WaitingJob } from "./waiting-store.ts";

/** Jobs of a queue that one transaction looks at, beyond those for the agents that ping. */
const spareJobs = 20;
/** Agents of many rule sets look at fewer jobs of each. */
const maxJobs = 1000;
/** Agents of more rule sets, which different reads found, come again. */
const maxRuleSetsAtOnce = 2 * maxRuleSets;
const maxReadyAgents = 100;
/** A retried job waits this long for the agent that should have it. */
const affinityMs = 10 * secondMs;
/** A job waits this long for a free agent of a higher priority. */
const preferenceMs = 5 * secondMs;

/** An agent without a job, and the agent rules of waiting jobs that it fulfils. */
export interface FreeAgent {
  agent: PingingAgent;
  ruleSets: string[];
}

export interface Reservation {
  agent: PingingAgent;
  job: WaitingJob;
}

type Allows<Subject = PingingAgent> = (job: WaitingJob, agent: Subject) => boolean;

/**
 * Gives free agents of a queue the jobs that come first: by priority, then by arrival. Agents of a higher priority
 * choose first. Locks the queue, then builds, then jobs.
 */
export async function reserveInQueue(
  tx: Tx,
  queueId: string,
  free: FreeAgent[],
  now: Date,
): Promise<Reservation[]> {
  if (!(await lockQueueIfDispatching(tx, { id: queueId }))) return [];
  const waiting = await listWaiting(tx, queueId, free);
  const prefers = await findPreference(tx, queueId, free, now);
  const isAllowed = await findAffinity(tx, queueId, waiting, now);
  const isLeft = await findLeftToOthers(tx, queueId, { waiting, free, isAllowed, now });
  const chosen = choose(
    waiting,
    free,
    (job, agent) => prefers(job, agent) && isAllowed(job, agent) && !isLeft(job, agent),
  );
  const builds = await lockBuilds(tx, [...new Set(chosen.map(({ job }) => job.buildId))]);

  const reservations: Reservation[] = [];
  for (const { agent, job } of chosen) {
    const { id, jobId: formerJobId } = agent;
    if (!(await reserveIfFree(tx, { id, jobId: job.id, formerJobId, now }))) continue;
    if (await assignIfIn(tx, { states: ["scheduled"], id: job.id, agentId: id, now }))
      reservations.push({ agent, job });
    // A cancel came between the list and the lock.
    else await freeIfHas(tx, { id, jobId: job.id });
  }
  await clearPauses(tx, builds, reservations);
  return reservations;
}

/** The first jobs of all rule sets that some agent fulfils, in their order. */
async function listWaiting(tx: Tx, queueId: string, free: FreeAgent[]): Promise<WaitingJob[]> {
  const ruleSets = [...new Set(free.flatMap((each) => each.ruleSets))].slice(0, maxRuleSetsAtOnce);
  const limit = Math.min(free.length + spareJobs, Math.ceil(maxJobs / ruleSets.length));
  const lists: WaitingJob[][] = [];
  for (const agentRules of ruleSets) lists.push(await listWaitingJobs(tx, { queueId, agentRules, limit }));
  return lists.length === 1 ? (lists[0] as WaitingJob[]) : lists.flat().sort(byOrder);
}

/** As the statement orders the jobs of one rule set. */
function byOrder(one: WaitingJob, other: WaitingJob): number {
  return (
    other.priority - one.priority ||
    one.arrivedAt.getTime() - other.arrivedAt.getTime() ||
    (one.id < other.id ? -1 : 1)
  );
}

/** Gives each agent the first job that it may take. */
function choose(waiting: WaitingJob[], free: FreeAgent[], isAllowed: Allows): Reservation[] {
  const left = [...waiting];
  return free.toSorted(byPreference).flatMap(({ agent, ruleSets }) => {
    const own = new Set(ruleSets);
    const index = left.findIndex((job) => own.has(job.agentRules) && isAllowed(job, agent));
    return index === -1 ? [] : left.splice(index, 1).map((job) => ({ agent, job }));
  });
}

/** Higher priorities first, then who finished a job last. */
function byPreference({ agent: one }: FreeAgent, { agent: other }: FreeAgent): number {
  const byPriority = priorityOf(other) - priorityOf(one);
  if (byPriority) return byPriority;
  return (other.lastJobFinishedAt?.getTime() ?? 0) - (one.lastJobFinishedAt?.getTime() ?? 0);
}

/** Without a priority, an agent comes last. */
function priorityOf({ priority }: Pick<PingingAgent, "priority">): number {
  return priority ?? Number.MIN_SAFE_INTEGER;
}

/** A job is left to a free agent of a higher priority that has not pinged yet, for a short while. */
async function findPreference(tx: Tx, queueId: string, free: FreeAgent[], now: Date): Promise<Allows> {
  const pinging = new Set(free.map(({ agent }) => agent.id));
  const absent = (await listPreferredAgents(tx, { queueId, now })).filter(({ id }) => !pinging.has(id));
  if (absent.length === 0) return () => true;
  const highest = forEachRuleSet((agentRules) => filterByAgentRules(absent, agentRules)[0]?.priority);
  return ({ agentRules, scheduledAt }, agent) =>
    now.getTime() - (scheduledAt ?? now).getTime() >= preferenceMs ||
    (highest(agentRules) ?? Number.NEGATIVE_INFINITY) <= priorityOf(agent);
}

/** Agents that fulfil a rule set, in their order. */
function filterByAgentRules<Any extends Pick<Agent, "metaData">>(agents: Any[], agentRules: string): Any[] {
  return agents.filter(({ metaData }) => matchesAgentRules(agentRules, metaData));
}

/** Finds something once for all jobs of one rule set. */
function forEachRuleSet<Found>(find: (agentRules: string) => Found): (agentRules: string) => Found {
  const known = new Map<string, Found>();
  return (agentRules) => {
    const found = known.has(agentRules) ? (known.get(agentRules) as Found) : find(agentRules);
    known.set(agentRules, found);
    return found;
  };
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
 * short while; or any but the one that failed it, while another that may take it is connected.
 */
async function findAffinity(
  tx: Tx,
  queueId: string,
  waiting: WaitingJob[],
  now: Date,
): Promise<Allows<Pick<Agent, "id">>> {
  const retries = waiting.flatMap(({ retryOfJobId }) => retryOfJobId ?? []);
  if (retries.length === 0) return () => true;
  const queue = await findQueueById(tx, queueId);
  const ready = await listReadyAgents(tx, queueId, now, maxReadyAgents);
  const failedBy = await listAgentsOfJobs(tx, retries);
  const warm = ready.filter(({ jobId, lastJobFinishedAt }) => jobId === null && lastJobFinishedAt !== null);
  const others = forEachRuleSet((agentRules) => filterByAgentRules(ready, agentRules).slice(0, 2));
  const warmestOf = forEachRuleSet((agentRules) => filterByAgentRules(warm, agentRules)[0]);

  return ({ retryOfJobId, scheduledAt, agentRules }, agent) => {
    if (retryOfJobId === null) return true;
    if (queue?.retryAgentAffinity === "prefer-different")
      return failedBy.get(retryOfJobId) !== agent.id || !others(agentRules).some(({ id }) => id !== agent.id);
    const warmest = warmestOf(agentRules);
    const waitedMs = now.getTime() - (scheduledAt ?? now).getTime();
    return !warmest || warmest.id === agent.id || waitedMs >= affinityMs;
  };
}

/** Finds the jobs that an agent did not accept in time. They are left to others, while one that may take them is free. */
async function findLeftToOthers(
  tx: Tx,
  queueId: string,
  given: { waiting: WaitingJob[]; free: FreeAgent[]; isAllowed: Allows<Pick<Agent, "id">>; now: Date },
): Promise<Allows> {
  const { waiting, free, isAllowed, now } = given;
  const unaccepted = new Set(free.map(({ agent }) => agent.unacceptedJobId));
  if (!waiting.some(({ id }) => unaccepted.has(id))) return () => false;
  const others = await listFreeAgents(tx, queueId, now);
  return (job, agent) =>
    agent.unacceptedJobId === job.id &&
    filterByAgentRules(others, job.agentRules).some(
      (other) => other.unacceptedJobId !== job.id && isAllowed(job, other),
    );
}
