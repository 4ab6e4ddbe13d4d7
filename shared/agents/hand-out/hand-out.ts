import type { JobFacts } from "../../builds/rows/job-store.ts";
import { hashToken } from "../../crypto/tokens.ts";
import { minuteMs } from "../../durations.ts";
import type { Topic } from "../../redis/events.ts";
import type { Services } from "../../services/services.ts";
import { openGatherer, openGatherers, pause, whileGrowing } from "../../sharing/gatherer.ts";
import { leasedJobStates } from "../../vocabulary.ts";
import { listJobsById } from "../lease-store.ts";
import { clearLostJobs, connectIfNot, listPingingAgents, type PingingAgent } from "../store.ts";
import { type FreeAgent, type Reservation, reserveInQueue } from "./reserve.ts";
import { openWaitingRuleSets, type WaitingRuleSets } from "./waiting-rule-sets.ts";

/** The answer to a ping. */
export type PingAnswer =
  | { action: "run"; jobId: string }
  | { action: "idle" }
  | { action: "pause" | "disconnect"; message: string }
  /** The session is over. */
  | { action: "unknown" }
  /** The agent runs this job no longer, or it would not ping. */
  | { action: "dropped"; agent: PingingAgent; jobId: string };

export interface HandOut {
  /** Reserves a job for the agent of a session token, if one waits. */
  ping(token: string): Promise<PingAnswer>;
}

const maxPings = 500;
/** Idle agents share reads: a thousand of them cost as little as twenty reads a second. */
const idleGatherMs = 40;
/** An agent repeats a request for a minute: its ping may be older than its job. */
const droppedAfterMs = minuteMs;

/** An agent that may take a job, or whose row must change. */
interface Candidate {
  agent: PingingAgent;
  /** The agent rules of waiting jobs of its queue that it fulfils. */
  ruleSets: string[];
  /** The answer to an agent that takes no job. */
  answer?: PingAnswer;
}

/**
 * Pings that arrive together share reads, and those of an organization that find work a transaction. It locks the
 * queues, so that a pause comes before or after it.
 */
export function openHandOut(services: Services): HandOut {
  let hasWork = false;
  const waitingRuleSets = openWaitingRuleSets(services.db);
  const reads = openGatherer<string, PingAnswer | Candidate>({
    maxItems: maxPings,
    when: (countWaiting, hurry) => (hasWork ? whileGrowing(countWaiting) : pause(idleGatherMs, hurry)),
    flush: async (hashes) => {
      const answers = await readPings(services, waitingRuleSets, hashes);
      hasWork = answers.some((answer) =>
        "action" in answer ? answer.action === "run" : answer.ruleSets.length > 0,
      );
      return answers;
    },
  });
  const reservations = openGatherers<Candidate, PingAnswer>(({ agent }) => agent.organizationId, {
    maxItems: maxPings,
    flush: (candidates) => reserveForAll(services, candidates),
  });
  return {
    async ping(token) {
      const answer = await reads.add(hashToken(token));
      return "action" in answer ? answer : reservations.add(answer);
    },
  };
}

/** Reads only: nothing here waits for a lock. */
async function readPings(
  { db, clock }: Services,
  waitingRuleSets: WaitingRuleSets,
  hashes: string[],
): Promise<(PingAnswer | Candidate)[]> {
  const now = clock.now();
  const agents = await listPingingAgents(db, { hashes: [...new Set(hashes)] });
  const jobIds = agents.flatMap(({ jobId }) => jobId ?? []);
  const jobs = new Map(
    jobIds.length > 0 ? (await listJobsById(db, { ids: jobIds })).map((job) => [job.id, job]) : [],
  );
  const answers = new Map<string, PingAnswer | Candidate>();
  const free: PingingAgent[] = [];
  for (const agent of agents) {
    const answer = answerWithoutWork(agent, jobs.get(agent.jobId ?? ""), now);
    if (!answer) free.push(agent);
    else answers.set(agent.tokenHash, hasLostJob(agent) ? { agent, ruleSets: [], answer } : answer);
  }
  const ruleSetsOf = free.length > 0 ? await waitingRuleSets.find(free) : new Map<string, string[]>();
  for (const agent of free) {
    const ruleSets = ruleSetsOf.get(agent.id) ?? [];
    const isIdle = ruleSets.length === 0 && agent.state === "connected" && !hasLostJob(agent);
    answers.set(agent.tokenHash, isIdle ? { action: "idle" } : { agent, ruleSets });
  }
  return hashes.map((hash) => answers.get(hash) ?? { action: "unknown" });
}

/** Returns undefined for an agent that is free to take a job. */
function answerWithoutWork(
  agent: PingingAgent,
  job: JobFacts | undefined,
  now: Date,
): PingAnswer | undefined {
  if (agent.state === "disconnected") return { action: "unknown" };
  const own = job?.agentId === agent.id && leasedJobStates.includes(job.state) ? job : undefined;
  // Before a pause or stop: these may last.
  if (own && isDropped(own, now)) return { action: "dropped", agent, jobId: own.id };
  if (agent.stopRequestedAt) return { action: "disconnect", message: "The agent was asked to stop" };
  if (isPaused(agent, now)) return { action: "pause", message: agent.pausedNote ?? "The agent is paused" };
  // The answer to an accept may have been lost: the agent accepts again.
  if (own) return own.state === "assigned" ? { action: "run", jobId: own.id } : { action: "idle" };
  return agent.ignoreInDispatches ? { action: "idle" } : undefined;
}

/** Returns true for a job that its agent runs no longer, if the agent asks for one now. */
export function isDropped({ acceptedAt, startedAt }: JobFacts, now: Date): boolean {
  const since = startedAt ?? acceptedAt;
  return since !== null && now.getTime() - since.getTime() > droppedAfterMs;
}

/** Returns true for an agent that came back and may still run, or report, the job that it lost. */
export function hasLostJob({ state, lostJobId }: Pick<PingingAgent, "state" | "lostJobId">): boolean {
  return lostJobId !== null && state !== "disconnected";
}

export function isPaused(
  { pausedAt, pausedUntil }: Pick<PingingAgent, "pausedAt" | "pausedUntil">,
  now: Date,
): boolean {
  return pausedAt !== null && (pausedUntil === null || pausedUntil > now);
}

async function reserveForAll(services: Services, candidates: Candidate[]): Promise<PingAnswer[]> {
  const changing = candidates.map(({ agent }) => agent).filter(mustChange);
  if (changing.length > 0) await connectAll(services, changing);

  const free = new Map(
    candidates.filter(({ ruleSets }) => ruleSets.length > 0).map((each) => [each.agent.id, each]),
  );
  const jobIds = free.size > 0 ? await reserveJobs(services, [...free.values()]) : new Map<string, string>();
  return candidates.map(({ agent, answer = { action: "idle" } }) => {
    const jobId = jobIds.get(agent.id);
    return jobId === undefined ? answer : { action: "run", jobId };
  });
}

/** @returns job ids by agent */
async function reserveJobs({ db, clock, events }: Services, free: FreeAgent[]): Promise<Map<string, string>> {
  const byQueue = [...Map.groupBy(free, ({ agent }) => agent.queueId)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const reservations = await db.transaction(async (tx) => {
    const made: Reservation[] = [];
    for (const [queueId, agents] of byQueue)
      made.push(...(await reserveInQueue(tx, queueId, agents, clock.now())));
    return made;
  });
  const builds = reservations.map(({ job }): Topic => `build:${job.buildId}`);
  if (builds.length > 0) events.publish([...builds, ...byQueue.map(([id]): Topic => `queue:${id}`)]);
  return new Map(reservations.map(({ agent, job }) => [agent.id, job.id]));
}

function mustChange(agent: PingingAgent): boolean {
  return agent.state !== "connected" || hasLostJob(agent);
}

/** Connects agents that ping. An agent that pings runs no job, so it is free of one that it lost. */
async function connectAll({ db, clock, events }: Services, agents: PingingAgent[]): Promise<void> {
  const ids = agents.map(({ id }) => id);
  await db.transaction(async (tx) => {
    await clearLostJobs(tx, ids);
    await connectIfNot(tx, { ids, now: clock.now() });
  });
  events.publish(agents.map(({ queueId }): Topic => `queue:${queueId}`));
}
