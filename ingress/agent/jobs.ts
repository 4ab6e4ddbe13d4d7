import { defineHandler, type H3Event } from "h3";
import { z } from "zod";
import { findOrganizationById } from "../../shared/accounts/organization-store.ts";
import { listUsersById } from "../../shared/accounts/user-store.ts";
import { isVersionAtLeast } from "../../shared/agents/agent-version.ts";
import { jobEnvironment } from "../../shared/agents/job-environment.ts";
import { type Accepted, acceptJob, acquireJob, startJob } from "../../shared/agents/lease.ts";
import type { LeaseGroup } from "../../shared/agents/lease-group.ts";
import { listJobsById } from "../../shared/agents/lease-store.ts";
import { maxChunkBytes } from "../../shared/agents/logs/codec.ts";
import type { Agent } from "../../shared/agents/store.ts";
import { findQueueOfToken } from "../../shared/agents/token-store.ts";
import { type Job, listBuildNumbers } from "../../shared/builds/store.ts";
import { isId } from "../../shared/ids.ts";
import { listPipelinesById } from "../../shared/pipelines/store.ts";
import type { Services } from "../../shared/process/services.ts";
import { findQueueById } from "../../shared/queues/store.ts";
import { notFound, Refusal, unprocessable } from "../../shared/refusal.ts";
import { openTurns } from "../../shared/sharing/turns.ts";
import { isLeased, type JobCall, requireAgentSession, requireJobCall } from "../auth/agent.ts";
import type { Attempts } from "../auth/attempts.ts";
import type { Bodies } from "../http/body.ts";
import { readJson } from "../http/json-body.ts";
import { keepOutOfLog } from "../http/request-context.ts";
import { pathParameter } from "../http/routing.ts";
import { finishHandler } from "./finish.ts";

const chunkSeconds = 1;
/** Acquiring calls of an organization at once. Each may wait for a lock, with a connection to the database. */
const maxAcquiring = 3;
/** Agents from this version on know `timing_out`. */
const timingOutSince = [3, 137] as const;

export const startBody = z.object({ started_at: z.string().nullish() });

/** Handlers of the life of a job: `/v3/jobs/:id`, `accept`, `acquire`, `start`, `finish`. */
export function jobHandlers(
  services: Services,
  { bodies, leases: group, attempts }: { bodies: Bodies; leases: LeaseGroup; attempts: Attempts },
) {
  const acquiring = openTurns({ maxRunningPerOwner: maxAcquiring });
  const idOf = (event: H3Event) => pathParameter(event, "id") ?? "";
  const present = async (agent: Agent, accepted: Accepted) => {
    attempts.remember(accepted);
    return presentJob(services, agent, accepted);
  };

  return {
    accept: defineHandler(async (event) => {
      const agent = await requireAgentSession(services, event);
      const job = await requireJobOfCluster(services, agent, idOf(event));
      return present(agent, await acceptJob(services, group, agent, job));
    }),

    acquire: defineHandler(async (event) => {
      const agent = await requireAgentSession(services, event);
      const job = await requireJobOfCluster(services, agent, idOf(event));
      const acquired = await acquiring.take(
        agent.organizationId,
        () => acquireJob(services, group, agent, job),
        event.req.signal,
      );
      return present(agent, acquired);
    }),

    start: defineHandler(async (event) => {
      const attempt = await attempts.require(event);
      await readJson(
        { event, bodies, organizationId: attempt.organizationId },
        { schema: startBody, isOptional: true, refuse: unprocessable },
      );
      await startJob(services, group, attempt);
      return {};
    }),

    finish: finishHandler(services, { bodies, leases: group, attempts }),

    /** An agent whose lease is stale hears `canceled`, so that it stops its command. */
    get: defineHandler(async (event) => {
      const call = await requireJobCall(services, event);
      keepOutOfLog(event);
      const state = isLeased(call) ? stateFor(call) : "canceled";
      return { id: call.job.id, state };
    }),
  };
}

function stateFor({ agent, job: { state } }: JobCall): string {
  if (state !== "timing_out") return state;
  return agent && isVersionAtLeast(agent.version, timingOutSince) ? state : "canceling";
}

/** A job that the agent's cluster, and the queue of its token, may run. @throws Refusal 404 */
async function requireJobOfCluster({ db }: Services, agent: Agent, id: string): Promise<Job> {
  const [job] = isId(id) ? await listJobsById(db, { ids: [id] }) : [];
  const queue = job?.queueId ? await findQueueById(db, job.queueId) : undefined;
  if (!job || queue?.clusterId !== agent.clusterId) throw notFound("job");
  if (queue.id !== agent.queueId && job.agentId !== agent.id) {
    if (await findQueueOfToken(db, agent.agentTokenId)) throw notFound("job");
  }
  return job;
}

async function presentJob(services: Services, agent: Agent, { job, build, token }: Accepted) {
  const { db, config, cipher } = services;
  const [pipeline] = await listPipelinesById(db, [build.pipelineId]);
  const organization = await findOrganizationById(db, build.organizationId);
  if (!pipeline || !organization) throw new Refusal(422, "The job's pipeline was deleted");
  const creator = build.creatorId
    ? (await listUsersById(db, [build.creatorId])).get(build.creatorId)
    : undefined;
  const [rebuiltFrom] = build.rebuiltFromId ? await listBuildNumbers(db, [build.rebuiltFromId]) : [];
  const context = { config, cipher, organization, pipeline, build, job, agent, creator, rebuiltFrom };
  return {
    id: job.id,
    state: job.state,
    env: jobEnvironment(context),
    chunks_max_size_bytes: maxChunkBytes,
    chunks_interval_seconds: chunkSeconds,
    log_max_size_bytes: config.jobLogBytes,
    token,
    runnable_at: job.scheduledAt,
  };
}
