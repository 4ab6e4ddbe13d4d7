import { acquireJob, finishJob, leaseOf, startJob } from "../../shared/agents/lease.ts";
import type { LeaseBatches } from "../../shared/agents/lease-batches.ts";
import { connectAgents } from "../../shared/agents/presence.ts";
import { openRegister } from "../../shared/agents/register.ts";
import type { Agent } from "../../shared/agents/store.ts";
import { createAgentToken, findRegistrar } from "../../shared/agents/tokens.ts";
import { type Build, listJobs } from "../../shared/builds/rows/build-store.ts";
import type { Job } from "../../shared/builds/rows/job-store.ts";
import { sampleQueues } from "../../shared/dispatch/figures.ts";
import { secondMs } from "../../shared/durations.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import type { DemoWorld } from "./world.ts";

const startsAfterMs = 12 * secondMs;
const runsForMs = 95 * secondMs;

/** An agent for each queue. They take jobs by the functions that the calls of real agents end in. */
export interface DemoAgents {
  ids: string[];
  /** Runs the jobs of a build that can run, one after the other. Moves the clock on. */
  run(build: Build, clock: { at: Date }, exitStatus: number): Promise<void>;
  /** The builds whose jobs waited for a paused queue. Each is returned once. */
  takeWaiting(): Build[];
  /** Starts the next job of a build. */
  begin(build: Build): Promise<() => Promise<void>>;
}

export async function connectDemoAgents(
  services: Services,
  group: LeaseBatches,
  { actor, clusters, queues }: DemoWorld,
): Promise<DemoAgents> {
  const agents = new Map<string, Agent>();
  for (const cluster of clusters) {
    const { token } = await createAgentToken(services, actor, cluster, {
      description: "Agents of the demo",
      queueId: null,
      expiresAt: null,
    });
    const registrar = await findRegistrar(services, token);
    if (!registrar) throw new Error(`No agent can register in ${cluster.name}.`);
    for (const { id, key } of [...queues.values()].filter(({ clusterId }) => clusterId === cluster.id)) {
      const { agent } = await openRegister(services)(registrar, {
        name: `${key}-1`,
        hostname: `${key}-1.example.com`,
        os: "Debian 12",
        arch: "amd64",
        version: "3.137.0",
        build: "1",
        pid: "1",
        metaData: [`queue=${key}`],
        priority: null,
        ignoreInDispatches: false,
        ip: "192.0.2.1",
        userAgent: null,
      });
      await connectAgents(services, [agent]);
      agents.set(id, agent);
    }
  }

  /** @returns a function that ends the job, or undefined if its queue is paused */
  const begin = async (build: Build, job: Job) => {
    const agent = agents.get(job.queueId ?? "");
    if (!agent) throw new Error(`Job ${job.id} waits in a queue without an agent.`);
    const { id: buildId, organizationId } = build;
    try {
      const accepted = await acquireJob(services, group, agent, job);
      const attempt = { lease: leaseOf(accepted.job), buildId, organizationId };
      await startJob(services, group, attempt);
      return (exitStatus: number) =>
        finishJob(services, group, {
          ...attempt,
          result: { exitStatus, signal: null, signalReason: null, isLast: false },
        });
    } catch (error) {
      if (error instanceof Refusal && error.status === 423) return undefined;
      throw error;
    }
  };
  const waiting = async ({ id }: Build) =>
    (await listJobs(services.db, [id])).map(({ job }) => job).filter(({ state }) => state === "scheduled");

  let waitingBuilds: Build[] = [];
  return {
    takeWaiting() {
      const taken = waitingBuilds;
      waitingBuilds = [];
      return taken;
    },
    ids: [...agents.values()].map(({ id }) => id),
    async run(build, clock, exitStatus) {
      for (const [at, job] of (await waiting(build)).entries()) {
        clock.at = new Date(clock.at.getTime() + startsAfterMs);
        const end = await begin(build, job);
        if (!end) waitingBuilds.push(build);
        await sampleQueues(services);
        clock.at = new Date(clock.at.getTime() + runsForMs * (0.6 + ((build.number * 7 + at * 3) % 10) / 12));
        await end?.(at === 0 ? exitStatus : 0);
      }
    },
    async begin(build) {
      const [job] = await waiting(build);
      const end = job && (await begin(build, job));
      if (!end) throw new Error(`No job of build ${build.number} can begin.`);
      return () => end(1);
    },
  };
}
