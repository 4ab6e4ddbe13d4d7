import { z } from "zod";
import type { Agent } from "../../../shared/agents/store.ts";
import type { Job } from "../../../shared/builds/job-store.ts";
import { api, web } from "../../../shared/urls.ts";
import { jobStates } from "../../../shared/vocabulary.ts";
import * as field from "../../operations/fields.ts";
import { type AgentContext, agentSummarySchema, presentAgentSummary } from "./agent-summary.ts";
import { graphqlId } from "./graphql-id.ts";

export const jobSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    type: z.enum(["script", "waiter"]),
    name: z.string().nullable(),
    state: z.enum(jobStates),
    step_key: z.string().nullable(),
    command: z.string().nullable(),
    agent_query_rules: z.array(z.string()),
    cluster_id: field.id.nullable(),
    cluster_queue_id: field.id.nullable(),
    agent: agentSummarySchema.nullable().meta({ description: "The agent that has, or last had, the job" }),
    web_url: field.url,
    log_url: field.url.nullable(),
    raw_log_url: field.url.nullable(),
    created_at: field.timestamp,
    scheduled_at: field.timestamp.nullable(),
    started_at: field.timestamp.nullable(),
    finished_at: field.timestamp.nullable(),
    exit_status: z.int().nullable(),
    signal: z
      .string()
      .nullable()
      .meta({ description: "The signal that ended the command, as its agent names it" }),
    signal_reason: z
      .string()
      .nullable()
      .meta({ description: "Why the agent ended the command or never ran it: `cancel`, `agent_stop`, …" }),
    soft_failed: z.boolean(),
    retried: z.boolean(),
    retried_in_job_id: field.id.nullable(),
    retries_count: z.int(),
    retry_type: z.enum(["manual", "automatic"]).nullable(),
    parallel_group_index: z.int().nullable(),
    parallel_group_total: z.int().nullable(),
  })
  .meta({ id: "Job" });

export interface JobContext extends AgentContext {
  /** Agents by id. Contains at least the agents of the presented jobs. */
  agents: ReadonlyMap<string, Agent>;
}

export interface JobToPresent {
  job: Job;
  queue: { id: string; key: string; clusterId: string } | null;
  build: { number: number };
  pipeline: { slug: string };
}

export function presentJob(context: JobContext, { job, queue, build, pipeline }: JobToPresent) {
  const { config, org, agents } = context;
  const address = { org, slug: pipeline.slug, number: build.number };
  const agent = agents.get(job.agentId ?? "");
  return {
    id: job.id,
    graphql_id: graphqlId("Job", job.id),
    type: job.type,
    name: job.label,
    state: job.state,
    step_key: job.options?.key ?? null,
    command: job.command,
    agent_query_rules: queue ? [`queue=${queue.key}`] : [],
    cluster_id: queue?.clusterId ?? null,
    cluster_queue_id: queue?.id ?? null,
    agent: agent ? presentAgentSummary(context, agent) : null,
    web_url: `${web.build(config, address, build.number)}#${job.id}`,
    log_url: job.type === "script" ? api.jobLog(config, address, job.id) : null,
    raw_log_url: job.type === "script" ? api.jobLogText(config, address, job.id) : null,
    created_at: job.createdAt,
    scheduled_at: job.scheduledAt,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
    exit_status: job.exitStatus,
    signal: job.signal,
    signal_reason: job.signalReason,
    soft_failed: job.softFailed,
    retried: job.retriedInJobId !== null,
    retried_in_job_id: job.retriedInJobId,
    retries_count: job.retriesCount,
    retry_type: job.retryType,
    parallel_group_index: job.options?.parallel?.index ?? null,
    parallel_group_total: job.options?.parallel?.total ?? null,
  };
}
