import { type Actor, audit } from "../accounts/audit.ts";
import { cancelJobsIfUnfinished, findJob, lockBuilds } from "../builds/rows/progress-store.ts";
import type { Db, Tx } from "../db/database.ts";
import { minuteMs } from "../durations.ts";
import { isId } from "../ids.ts";
import { putNewsOfAgents } from "../news/put.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { isPaused } from "./hand-out/hand-out.ts";
import { takeBackJobOf } from "./lost.ts";
import { type Agent, findAgent, updateAgentIfPresent } from "./store.ts";

/** Null: the agent itself, from inside its job. */
export type Controller = Actor | null;

/** @throws Refusal 404 */
export async function requireAgent(db: Db, organizationId: string, id: string): Promise<Agent> {
  const agent = isId(id) ? await findAgent(db, id) : undefined;
  if (agent?.organizationId !== organizationId) throw notFound("agent");
  return agent;
}

/**
 * Asks an agent to stop after its job.
 * @param isForced cancels the job too
 * @throws Refusal 422 if it has disconnected
 */
export async function stopAgent(
  services: Services,
  controller: Controller,
  agent: Agent,
  isForced: boolean,
): Promise<Agent> {
  const now = services.clock.now();
  const stopped = await change(services, controller, agent, {
    action: "stopped",
    fields: { stopRequestedAt: agent.stopRequestedAt ?? now, stopRequestedById: controller?.userId ?? null },
    also: async (tx) => {
      if (!agent.stopRequestedAt) await putNewsOfAgents(tx, [agent], "agent.stopping");
      const job = isForced && agent.jobId ? await findJob(tx, agent.jobId) : undefined;
      if (!job) return;
      const [build] = await lockBuilds(tx, [job.buildId]);
      const present = await findJob(tx, job.id);
      if (build && present?.agentId === agent.id && present.acceptedAt)
        await cancelJobsIfUnfinished(tx, { build, jobId: job.id }, now);
    },
  });
  await giveUpReserved(services, stopped);
  return stopped;
}

/**
 * Lets an agent take no further job until it is resumed, or for a time.
 * @throws Refusal 422 if it has disconnected, or is paused already
 */
export async function pauseAgent(
  services: Services,
  controller: Controller,
  agent: Agent,
  { note, minutes }: { note: string | null; minutes: number | null },
): Promise<Agent> {
  const now = services.clock.now();
  if (isPaused(agent, now)) throw new Refusal(422, "Agent is already paused");
  const paused = await change(services, controller, agent, {
    action: "paused",
    fields: {
      pausedAt: now,
      pausedById: controller?.userId ?? null,
      pausedNote: note,
      pausedUntil: minutes === null ? null : new Date(now.getTime() + minutes * minuteMs),
    },
  });
  await giveUpReserved(services, paused);
  return paused;
}

/** @throws Refusal 422 if it has disconnected, or is not paused */
export async function resumeAgent(services: Services, controller: Controller, agent: Agent): Promise<Agent> {
  if (!isPaused(agent, services.clock.now())) throw new Refusal(422, "Agent is not paused");
  const fields = { pausedAt: null, pausedById: null, pausedNote: null, pausedUntil: null };
  return change(services, controller, agent, { action: "resumed", fields });
}

interface Change {
  action: string;
  fields: Partial<Agent>;
  also?: (tx: Tx) => Promise<void>;
}

async function change(
  { db, events, log }: Services,
  controller: Controller,
  agent: Agent,
  { action, fields, also }: Change,
): Promise<Agent> {
  const changed = await db.transaction(async (tx) => {
    await also?.(tx);
    const updated = await updateAgentIfPresent(tx, agent.id, fields);
    if (!updated) throw new Refusal(422, "Agent has disconnected");
    if (controller) await audit(tx, controller, action, { type: "agent", id: agent.id, name: agent.name });
    return updated;
  });
  log.info({ agentId: agent.id, action }, "an agent was stopped, paused or resumed");
  events.publish([`cluster:${agent.clusterId}`, `queue:${agent.queueId}`]);
  return changed;
}

/** A job that the agent has not accepted goes to another. */
async function giveUpReserved(services: Services, agent: Agent): Promise<void> {
  if (agent.jobId === null) return;
  await takeBackJobOf(services, agent, agent.jobId, ({ acceptedAt }) => acceptedAt === null);
}
