import type { H3Event } from "h3";
import { z } from "zod";
import type { Registrar } from "../../shared/agents/tokens.ts";
import { openWorkSamples, sampleMs, type Work } from "../../shared/dispatch/work-samples.ts";
import { secondMs } from "../../shared/durations.ts";
import { patterns } from "../../shared/paths.ts";
import { notFound } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { setHeader } from "../http/respond.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { answer, tag } from "./answers.ts";

const count = z.int().min(0);
const capped = z
  .boolean()
  .meta({ description: "False: the numbers are exact. True: at most 1,000 of a queue are counted of each" });
const agentCounts = z.object({
  idle: count,
  busy: count.meta({ description: "They have a job" }),
  total: count.meta({ description: "Connected" }),
  capped,
});
const jobCounts = z.object({
  scheduled: count.meta({ description: "An agent with the right tags could take them now" }),
  running: count.meta({ description: "An agent has them" }),
  waiting: count.meta({ description: "Behind other steps, a concurrency group or a paused queue" }),
  total: count,
  capped,
});
const owners = {
  organization: z.object({ slug: z.string() }),
  cluster: z.object({ name: z.string() }),
};
const metricsOfCluster = z.object({
  agents: agentCounts.extend({ queues: z.record(z.string(), agentCounts) }),
  jobs: jobCounts.extend({ queues: z.record(z.string(), jobCounts) }),
  ...owners,
});
const metricsOfQueue = z.object({ agents: agentCounts, jobs: jobCounts, ...owners });

const description = `All processes share a sample that is at most ${sampleMs / secondMs} seconds old. The header Buildkite-Agent-Metrics-Poll-Duration says how many seconds to wait before the next call.`;

/** Calls of autoscalers and collectors, with a registration token. */
export function metricsOperations(services: Services): Operation[] {
  const readWork = openWorkSamples(services);
  const read = async ({ registrar, event }: { registrar: Registrar; event: H3Event }) => {
    const work = await readWork(registrar.cluster.id);
    setHeader(event, "Buildkite-Agent-Metrics-Poll-Duration", String(sampleMs / secondMs));
    return work;
  };
  return [
    operation({
      tag,
      caller: "registrar",
      methods: ["GET"],
      path: patterns.agentMetrics,
      id: "getAgentMetrics",
      summary: "Counts of a cluster's jobs and connected agents, with those of each queue by its key",
      description,
      success: answer(metricsOfCluster),
      isQuiet: true,
      run: async (call) => {
        const { queues, ...all } = await read(call);
        const entries = Object.entries(queues);
        const { agents, jobs } = present(all);
        return {
          agents: {
            ...agents,
            queues: Object.fromEntries(entries.map(([key, work]) => [key, present(work).agents])),
          },
          jobs: {
            ...jobs,
            queues: Object.fromEntries(entries.map(([key, work]) => [key, present(work).jobs])),
          },
          ...ownersOf(call.registrar),
        };
      },
    }),
    operation({
      tag,
      caller: "registrar",
      methods: ["GET"],
      path: patterns.agentMetricsOfQueue,
      id: "getAgentMetricsOfQueue",
      summary: "Counts of a queue's jobs and connected agents",
      description,
      query: { name: z.string().meta({ description: "The key of the queue" }) },
      success: answer(metricsOfQueue),
      refusals: { 404: ["No queue found"] },
      isQuiet: true,
      run: async (call) => {
        const { queues } = await read(call);
        const name = call.event.url.searchParams.get("name") ?? "";
        const work = Object.hasOwn(queues, name) ? queues[name] : undefined;
        if (!work) throw notFound("queue");
        return { ...present(work), ...ownersOf(call.registrar) };
      },
    }),
  ];
}

function present({ agents, jobs, isCapped }: Work) {
  return { agents: { ...agents, capped: isCapped }, jobs: { ...jobs, capped: isCapped } };
}

function ownersOf({ organization, cluster }: Registrar) {
  return { organization: { slug: organization.slug }, cluster: { name: cluster.name } };
}
