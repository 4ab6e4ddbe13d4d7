import type { Build } from "../builds/rows/build-store.ts";
import type { Job, JobFacts } from "../builds/rows/job-store.ts";
import { findJob, lockBuildIfFree, lockBuilds } from "../builds/rows/progress-store.ts";
import { restBetweenTransactions } from "../db/batches.ts";
import { DatabaseUnavailable, type Db, type Tx } from "../db/database.ts";
import { findSharedValue, putSharedValue } from "../db/shared-values-store.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../durations.ts";
import { afterDays, afterMs, expiring } from "../retention/expiring.ts";
import type { Services } from "../services/services.ts";
import { type AgentState, leasedJobStates } from "../vocabulary.ts";
import { report, takeJobBack } from "./lease.ts";
import {
  type Agent,
  deleteAgentsDisconnectedBefore,
  disconnectIfPresent,
  dropDescriptionsDisconnectedBefore,
  findAgent,
  freeIfHas,
  listAgentsSeenAfter,
  listUnseenAgents,
  lockAgentsIfFree,
  loseIfUnseen,
  markSeen,
} from "./store.ts";

const missedHeartbeats = 3;
/** A lost agent may come back within this time. */
const comeBackMs = dayMs;
const batchAgents = 200;

/** A later time comes from a clock that was ahead. */
const aheadMs = minuteMs;

/** Ingress processes store this often that they hear agents. */
export const listeningEveryMs = 10 * secondMs;
const maxSilenceMs = 3 * listeningEveryMs;
const listening = "agents.listening";

interface Listening {
  /** Without a longer pause since then. */
  since: number;
  last: number;
}

/** Stores that an ingress process can hear agents. After an outage the count of missed heartbeats starts again. */
export async function markListening({ db, clock }: Services): Promise<void> {
  const now = clock.now().getTime();
  await db.transaction(async (tx) => {
    const known = parseListening(await findSharedValue(tx, listening));
    const isSteady = known !== undefined && Math.abs(now - known.last) <= maxSilenceMs;
    const next: Listening = isSteady
      ? { since: known.since, last: Math.max(now, known.last) }
      : { since: now, last: now };
    await putSharedValue(tx, listening, JSON.stringify(next));
  });
}

/** Returns true if agents, and stacks, could be heard for so long. */
export async function hasListenedFor(db: Db, now: Date, ms: number): Promise<boolean> {
  const heard = parseListening(await findSharedValue(db, listening));
  if (heard === undefined || now.getTime() - heard.last > maxSilenceMs) return false;
  return now.getTime() - heard.since >= ms;
}

function parseListening(text: string | undefined): Listening | undefined {
  return text === undefined ? undefined : JSON.parse(text);
}

/**
 * connected → lost, for agents that missed three heartbeats. Their jobs go back to their queues. Agents that were lost
 * for a day are disconnected.
 * @returns the number of agents that were lost
 */
export async function loseUnseenAgents(services: Services): Promise<number> {
  const { db, clock, config, log, metrics } = services;
  const now = clock.now();
  const unseenMs = missedHeartbeats * config.agentHeartbeatMs;
  await seeNowIfAhead(db, now);
  let lost = 0;
  if (await hasListenedFor(db, now, unseenMs)) {
    const seenBefore = new Date(now.getTime() - unseenMs);
    await eachUnseen(db, "connected", seenBefore, async (agent) => {
      const isLost = await endIfFree(services, agent, (tx, present) =>
        loseIfUnseen(tx, present, { seenBefore, now }),
      );
      if (!isLost) return false;
      log.warn({ agentId: agent.id, name: agent.name, jobId: agent.jobId }, "an agent was lost");
      metrics.agentsLost.inc();
      lost++;
      return true;
    });
  }
  const goneBefore = new Date(now.getTime() - comeBackMs);
  for (const state of ["lost", "registered"] as const)
    await eachUnseen(db, state, goneBefore, (agent) =>
      endIfFree(services, agent, (tx, present) => disconnectIfPresent(tx, present, now)),
    );
  return lost;
}

/** @param end changes the state of an agent, unless it was seen since or is locked. Returns false if it did not */
async function eachUnseen(
  db: Db,
  state: AgentState,
  seenBefore: Date,
  end: (agent: Agent) => Promise<boolean>,
): Promise<void> {
  for (let skipped = 0; ; ) {
    const agents = await listUnseenAgents(db, state, { seenBefore, limit: batchAgents, offset: skipped });
    for (const agent of agents) if (!(await end(agent))) skipped++;
    if (agents.length < batchAgents) return;
    await restBetweenTransactions();
  }
}

/** With the hour until the next purge, less than a day. */
const describedMs = 20 * hourMs;

/** Agents that start anew for each job leave a row each: it keeps only what their jobs show. */
export const descriptionsOfEndedAgents = expiring(
  "agentDescriptions",
  afterMs(describedMs),
  dropDescriptionsDisconnectedBefore,
);

export function isDescribed({ ip }: Agent): boolean {
  return ip !== "";
}

export const oldAgents = expiring("agents", afterDays("logRetentionDays"), deleteAgentsDisconnectedBefore);

/** Ends a session, by its agent's wish. Its job, if it has one, goes back to its queue. */
export async function disconnectAgent(services: Services, agent: Agent): Promise<void> {
  const now = services.clock.now();
  await endSession(services, agent, (tx, present) => disconnectIfPresent(tx, present, now));
  services.log.info({ agentId: agent.id, name: agent.name }, "an agent disconnected");
}

/** Corrects times that an ingress process with a fast clock stored: its agents would seem present for too long. */
async function seeNowIfAhead(db: Services["db"], now: Date): Promise<void> {
  const seenAfter = new Date(now.getTime() + aheadMs);
  const ids = await listAgentsSeenAfter(db, seenAfter, batchAgents);
  if (ids.length > 0) await db.transaction((tx) => markSeen(tx, ids, now));
}

type EndSession = (tx: Tx, present: Agent) => Promise<Agent | undefined>;
/** Undefined: another transaction has the build locked. */
type LockBuild = (tx: Tx, build: { id: string }) => Promise<Build | undefined>;

const lockBuild: LockBuild = async (tx, { id }) => (await lockBuilds(tx, [id]))[0];

/** Skips a locked agent, and one whose job cannot be changed: it does not delay the others. The next run finds it again. */
async function endIfFree(services: Services, agent: Agent, end: EndSession): Promise<boolean> {
  const endIfAgentIsFree: EndSession = async (tx, present) => {
    const [free] = await lockAgentsIfFree(tx, [present.id]);
    return free === undefined ? undefined : end(tx, present);
  };
  try {
    return await endSession(services, agent, endIfAgentIsFree, lockBuildIfFree);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    services.log.error({ err: error, agentId: agent.id }, "the session of an agent could not be ended");
    return false;
  }
}

/** @returns false if the state had changed before */
async function endSession(
  services: Services,
  { id }: Agent,
  end: EndSession,
  lock = lockBuild,
): Promise<boolean> {
  let present = await findAgent(services.db, id);
  while (present) {
    if (await endIfUnchanged(services, present, { end, lock })) return true;
    const { jobId } = present;
    present = await findAgent(services.db, id);
    // The agent may have got a job meanwhile: that job has to go back too.
    if (present?.jobId === jobId) return false;
  }
  return false;
}

async function endIfUnchanged(
  services: Services,
  agent: Agent,
  { end, lock }: { end: EndSession; lock: LockBuild },
): Promise<boolean> {
  const ended = await services.db.transaction(async (tx) => {
    const job = agent.jobId
      ? await lockJobOfAgent(tx, { agentId: agent.id, jobId: agent.jobId, lock })
      : null;
    if (job === undefined || !(await end(tx, agent))) return undefined;
    return { released: job && (await releaseLocked(tx, services, job)) };
  });
  if (!ended) return false;
  services.events.publish([`cluster:${agent.clusterId}`, `queue:${agent.queueId}`]);
  if (ended.released) report(services, ended.released.build, ended.released.changed);
  return true;
}

/** Takes back the job of an agent whose session goes on, if the job is still as `onlyIf` says. */
export async function takeBackJobOf(
  services: Services,
  agent: Pick<Agent, "id">,
  jobId: string,
  onlyIf: (job: JobFacts) => boolean,
): Promise<void> {
  const released = await services.db.transaction(async (tx) => {
    const job = await lockJobOfAgent(tx, { agentId: agent.id, jobId, lock: lockBuild });
    if (!job || !onlyIf(job)) return undefined;
    await freeIfHas(tx, { id: agent.id, jobId });
    return releaseLocked(tx, services, job);
  });
  if (released) report(services, released.build, released.changed);
}

/** The job that an agent has, with its build locked. Null: it has it no longer. Undefined: the build is not free. */
async function lockJobOfAgent(
  tx: Tx,
  { agentId, jobId, lock }: { agentId: string; jobId: string; lock: LockBuild },
): Promise<Job | null | undefined> {
  const seen = await findJob(tx, jobId);
  if (!seen) return null;
  if (!(await lock(tx, { id: seen.buildId }))) return undefined;
  const job = await findJob(tx, jobId);
  return job?.agentId === agentId && leasedJobStates.includes(job.state) ? job : null;
}

async function releaseLocked(
  tx: Tx,
  { clock, config }: Services,
  job: Job,
): Promise<{ build: Build; changed: JobFacts[] } | undefined> {
  const [build] = await lockBuilds(tx, [job.buildId]);
  if (!build) return undefined;
  const changed = await takeJobBack(tx, build, { job, maxRestarts: config.jobRestarts, now: clock.now() });
  return { build, changed };
}
