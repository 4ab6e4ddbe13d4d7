import { z } from "zod";
import { acceptJob, acquireJob, attemptOf, leaseOf, startJob } from "../../shared/agents/lease.ts";
import type { LeaseBatches } from "../../shared/agents/lease-batches.ts";
import { listJobPlaces, listJobsById } from "../../shared/agents/lease-store.ts";
import type { Agent } from "../../shared/agents/store.ts";
import { findQueueOfToken } from "../../shared/agents/token-store.ts";
import { isVersionAtLeast } from "../../shared/agents/version.ts";
import type { JobFacts } from "../../shared/builds/rows/job-store.ts";
import { isId } from "../../shared/ids.ts";
import { patterns } from "../../shared/paths.ts";
import * as field from "../../shared/presenters/fields.ts";
import { findQueueById } from "../../shared/queues/store.ts";
import { notFound } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { readTogether } from "../../shared/sharing/gatherer.ts";
import { writes } from "../../shared/sharing/resources.ts";
import type { Attempts } from "../auth/attempts.ts";
import type { JobCaller } from "../auth/callers.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { unread } from "../operations/reported.ts";
import { acceptedJob, acceptedPresenter, environmentReader } from "./accepted-job.ts";
import { answer, done, tag } from "./answers.ts";

/** Agents from this version on know `timing_out`. */
const timingOutSince = [3, 137] as const;

/** The calls of a job's life, but `finish`. */
export function jobOperations(
  services: Services,
  { leases, attempts }: { leases: LeaseBatches; attempts: Attempts },
): Operation[] {
  const present = acceptedPresenter(services, environmentReader(services));
  const findPlace = readTogether(
    (ids) => listJobPlaces(services.db, { ids }),
    ({ id }) => id,
  );
  return [
    operation({
      tag,
      caller: "session",
      methods: ["PUT"],
      path: patterns.acceptJob,
      id: "acceptJob",
      summary: "Accept the job that a ping offered",
      success: answer(acceptedJob),
      refusals: {
        404: ["Not a job of the agent's queues, or not its own"],
        422: [
          "The job cannot be accepted any more",
          "The job has failed: the agent is too old for its step, or the secret of its checkout cannot be read",
        ],
      },
      run: async ({ agent, parameter }) => {
        const id = parameter("id");
        const job = isId(id) ? await findPlace(id) : undefined;
        if (job?.agentId !== agent.id) throw notFound("job"); // before a lock
        const accepted = await acceptJob(services, leases, agent, job);
        attempts.remember(accepted.token, attemptOf(accepted.build, leaseOf(accepted.job)));
        return present(agent, accepted);
      },
    }),
    operation({
      tag,
      caller: "session",
      methods: ["PUT"],
      path: patterns.acquireJob,
      id: "acquireJob",
      summary: "Take a job by its id",
      success: answer(acceptedJob),
      refusals: {
        404: ["Not a job of the agent's queues"],
        422: ["The job was taken or has finished, or the agent may take none"],
        423: ["The job waits for others, or its queue is paused: try again"],
      },
      run: async ({ agent, parameter, event }) => {
        const job = await requireJobOfCluster(services, agent, parameter("id"));
        const acquire = () => acquireJob(services, leases, agent, job);
        const acquired = await writes.take(agent.organizationId, acquire, event.req.signal);
        attempts.remember(acquired.token, attemptOf(acquired.build, leaseOf(acquired.job)));
        return present(agent, acquired);
      },
    }),
    operation({
      tag,
      caller: "attempt",
      methods: ["PUT"],
      path: patterns.startJob,
      id: "startJob",
      summary: "Start an accepted job",
      body: {
        schema: z.object({ started_at: unread }),
        isReport: true,
      },
      success: done,
      run: async ({ attempt, readBody }) => {
        await readBody();
        await startJob(services, leases, attempt);
        return {};
      },
    }),
    operation({
      tag,
      caller: "job",
      methods: ["GET"],
      path: patterns.jobState,
      id: "getJobState",
      summary: "Get the state of a job",
      description: "An attempt that is over reads `canceled`, so that its agent ends the command.",
      success: answer(z.object({ id: field.id, state: z.string() })),
      isQuiet: true,
      run: async (caller) => ({ id: caller.job.id, state: stateFor(caller) }),
    }),
  ];
}

function stateFor({ agent, job: { state }, isLeased }: JobCaller): string {
  if (!isLeased) return "canceled";
  if (state !== "timing_out") return state;
  return agent && isVersionAtLeast(agent.version, timingOutSince) ? state : "canceling";
}

/** A job that the agent's cluster, and the queue of its token, may run. @throws Refusal 404 */
async function requireJobOfCluster({ db }: Services, agent: Agent, id: string): Promise<JobFacts> {
  const [job] = isId(id) ? await listJobsById(db, { ids: [id] }) : [];
  const queue = job?.queueId ? await findQueueById(db, job.queueId) : undefined;
  if (!job || queue?.clusterId !== agent.clusterId) throw notFound("job");
  if (queue.id !== agent.queueId && job.agentId !== agent.id) {
    if (await findQueueOfToken(db, agent.agentTokenId)) throw notFound("job");
  }
  return job;
}
