import { z } from "zod";
import type { User } from "../accounts/user-store.ts";
import type { Agent } from "../agents/store.ts";
import type { WaitingReason } from "../agents/waiting/reason.ts";
import type { AnsweredJob } from "../builds/reading/answer-store.ts";
import type { Job } from "../builds/rows/job-store.ts";
import type { NamedBuild } from "../builds/triggered/store.ts";
import { parseAgentRules } from "../pipelines/agent-rules.ts";
import { api, web } from "../settings/urls.ts";
import { jobStates, shownJobState } from "../vocabulary.ts";
import { type AgentContext, agentSummarySchema, presentAgentSummary } from "./agent-summary.ts";
import * as field from "./fields.ts";
import { graphqlId } from "./graphql-id.ts";
import { presentSignature } from "./readable-step.ts";
import { timeText } from "./time-text.ts";
import { presentUserById, userSchema } from "./user.ts";
import { presentWaitingReason, waitingReasonSchema } from "./waiting-reason.ts";

/** Of manual jobs only: those of block and input steps. */
const manualMembers = {
  label: z.string().nullable().optional(),
  unblocked_by: userSchema.nullable().optional(),
  unblocked_at: field.timestamp.nullable().optional(),
  unblockable: z
    .boolean()
    .optional()
    .meta({ description: "Of a manual job: all that it waits for has ended, and nobody has unblocked it" }),
  unblock_url: field.url.optional(),
};

export const jobSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    type: z.enum(["script", "waiter", "manual", "trigger"]),
    name: z.string().nullable(),
    state: z.enum(jobStates),
    waiting_reason: waitingReasonSchema.nullable().meta({ description: "Null: it does not wait" }),
    step_key: z.string().nullable(),
    group_key: z.string().nullable(),
    step: z.object({
      id: field.id.meta({ description: "Parallel and retried jobs have the same step" }),
      signature: z.record(z.string(), z.unknown()).nullable().meta({ description: "As it was uploaded" }),
    }),
    matrix: z
      .record(z.string(), z.string())
      .nullable()
      .meta({ description: "The values of the step's matrix; a dimension without a name is empty" }),
    priority: z.object({ number: z.int().meta({ description: "Higher ones come first" }) }),
    command: z.string().nullable(),
    agent_query_rules: z
      .array(z.string())
      .meta({ description: "The queue, and the tags that the agent must have" }),
    artifact_paths: z
      .string()
      .nullable()
      .meta({ description: "Patterns of files that agents upload, parted by ;" }),
    cluster_id: field.id.nullable(),
    cluster_url: field.url.nullable(),
    cluster_queue_id: field.id.nullable(),
    cluster_queue_url: field.url.nullable(),
    agent: agentSummarySchema.nullable().meta({ description: "The agent that has, or last had, the job" }),
    build_url: field.url,
    web_url: field.url,
    log_url: field.url.nullable(),
    raw_log_url: field.url.nullable(),
    artifacts_url: field.url.nullable(),
    created_at: field.timestamp,
    scheduled_at: field.timestamp.nullable().meta({
      description: "The time from which it waited for nothing but its concurrency group and an agent",
    }),
    runnable_at: field.timestamp.nullable().meta({ description: "An agent can take the job since then" }),
    started_at: field.timestamp.nullable(),
    finished_at: field.timestamp.nullable(),
    expired_at: field.timestamp.nullable(),
    concurrency: z.int().nullable().meta({ description: "Jobs of its group that run at once" }),
    concurrency_group: z.string().nullable(),
    concurrency_method: z.enum(["ordered", "eager"]).nullable(),
    concurrency_wait_time_ms: z.int().nullable().meta({
      description: "How long it waited for its group alone. Null while it does, and without a group",
    }),
    exit_status: z.int().nullable(),
    signal: z
      .string()
      .nullable()
      .meta({ description: "The signal that ended the command, as its agent names it" }),
    signal_reason: z
      .string()
      .nullable()
      .meta({ description: "Why the agent ended the command or never ran it: `cancel`, `agent_stop`, …" }),
    failure_reason: z.string().nullable().meta({
      description: "Why the server ended the job, or why the job fails once its turn comes, for people",
    }),
    promised_exit_status: z
      .int()
      .nullable()
      .meta({ description: "The exit status that the running command promised to end with" }),
    promised_exit_status_at: field.timestamp.nullable(),
    soft_failed: z.boolean(),
    broken_reason: z.string().nullable().meta({
      description: "Why a job was left out: `conditional_failed`, `branch_mismatch`, or the text of `skip`",
    }),
    retried: z.boolean(),
    retried_in_job_id: field.id.nullable(),
    retried_by: userSchema.nullable().meta({ description: "Who retried it. Null: its step's rules did" }),
    retries_count: z.int(),
    retry_type: z.enum(["manual", "automatic"]).nullable(),
    retry_source: z
      .object({ job_id: field.id, retry_type: z.enum(["manual", "automatic"]) })
      .nullable()
      .meta({ description: "The job that this one replaces" }),
    parallel_group_index: z.int().nullable(),
    parallel_group_total: z.int().nullable(),
    ...manualMembers,
    async: z.boolean().optional().meta({ description: "Of a trigger only" }),
    triggered_build: z
      .object({ id: field.id, number: z.int(), url: field.url, web_url: field.url })
      .nullable()
      .optional()
      .meta({ description: "Of a trigger only: the build that it made" }),
  })
  .meta({ id: "Job" });

export interface JobContext extends AgentContext {
  /** Agents by id. Contains at least the agents of the presented jobs. */
  agents: ReadonlyMap<string, Agent>;
  /** Users by id. Contains at least those who unblocked or retried the presented jobs (`usersOf`). */
  users: ReadonlyMap<string, User>;
  /** The builds that trigger steps made, by id of the job. Absent: there are no such jobs. */
  triggered?: ReadonlyMap<string, NamedBuild>;
}

export interface JobToPresent extends AnsweredJob {
  build: { number: number };
  /** Why it waits. */
  reason?: WaitingReason | undefined;
  pipeline: { slug: string };
}

/** The ids of the users whom the JSON of a job names. */
export function usersOf({ job }: Pick<AnsweredJob, "job">): string[] {
  return [job.unblockedById, job.retriedById].filter((id) => id !== null);
}

export function presentJob(context: JobContext, { job, queue, build, pipeline, reason }: JobToPresent) {
  const { config, org, agents, users } = context;
  const address = { org, slug: pipeline.slug, number: build.number };
  const agent = agents.get(job.agentId ?? "");
  const { key, group, signature, matrix, parallel, trigger, artifact_paths } = job.options ?? {};
  const queueKey = queue?.key ?? job.options?.queue;
  return {
    id: job.id,
    graphql_id: graphqlId("Job", job.id),
    type: job.type,
    name: job.label,
    state: shownJobState(job.state),
    waiting_reason: presentWaitingReason(reason),
    step_key: key ?? null,
    group_key: group?.key ?? null,
    step: { id: job.stepId, signature: presentSignature(signature) },
    matrix: matrix ?? null,
    priority: { number: job.priority },
    command: job.command,
    agent_query_rules: queueKey ? [`queue=${queueKey}`, ...parseAgentRules(job.agentRules)] : [],
    artifact_paths: artifact_paths ?? null,
    cluster_id: queue?.clusterId ?? null,
    cluster_url: queue ? api.cluster(config, org, queue.clusterId) : null,
    cluster_queue_id: queue?.id ?? null,
    cluster_queue_url: queue ? api.queue(config, { org, cluster: queue.clusterId, queue: queue.id }) : null,
    agent: agent ? presentAgentSummary(context, agent) : null,
    build_url: api.build(config, address, build.number),
    web_url: web.job(config, address, job.id),
    log_url: job.type === "script" ? api.jobLog(config, address, job.id) : null,
    raw_log_url: job.type === "script" ? api.jobLogText(config, address, job.id) : null,
    artifacts_url: job.type === "script" ? api.jobArtifacts(config, address, job.id) : null,
    created_at: timeText(job.createdAt),
    scheduled_at: timeText(job.limitedAt ?? job.scheduledAt),
    runnable_at: timeText(job.scheduledAt),
    started_at: timeText(job.startedAt),
    finished_at: timeText(job.finishedAt),
    expired_at: job.state === "expired" ? timeText(job.finishedAt) : null,
    ...concurrencyOf(job),
    exit_status: job.exitStatus,
    signal: job.signal,
    signal_reason: job.signalReason,
    failure_reason: job.failureReason,
    promised_exit_status: job.promisedExitStatus,
    promised_exit_status_at: timeText(job.promisedAt),
    soft_failed: job.softFailed,
    broken_reason: job.brokenReason,
    retried: job.retriedInJobId !== null,
    retried_in_job_id: job.retriedInJobId,
    retried_by: presentUserById(config, users, job.retriedById),
    retries_count: job.retriesCount,
    retry_type: job.retryType,
    retry_source:
      job.retryOfJobId && job.retryType ? { job_id: job.retryOfJobId, retry_type: job.retryType } : null,
    parallel_group_index: parallel?.index ?? null,
    parallel_group_total: parallel?.total ?? null,
    ...(job.type === "manual" && {
      label: job.label,
      unblocked_by: presentUserById(config, users, job.unblockedById),
      unblocked_at: timeText(job.unblockedAt),
      unblockable: job.unblockable,
      unblock_url: api.unblockJob(config, address, job.id),
    }),
    ...(job.type === "trigger" && {
      async: trigger?.async ?? false,
      triggered_build: presentTriggered(context, job.id),
    }),
  };
}

function presentTriggered({ config, org, triggered }: JobContext, jobId: string) {
  const build = triggered?.get(jobId);
  if (!build) return null;
  const { id, number, pipeline } = build;
  const address = { org, slug: pipeline.slug };
  return { id, number, url: api.build(config, address, number), web_url: web.build(config, address, number) };
}

function concurrencyOf({ options, limitedAt, scheduledAt }: Job) {
  const { concurrency, concurrency_group, concurrency_method } = options ?? {};
  return {
    concurrency: concurrency ?? null,
    concurrency_group: concurrency_group ?? null,
    concurrency_method: concurrency_group === undefined ? null : (concurrency_method ?? "ordered"),
    concurrency_wait_time_ms: limitedAt && scheduledAt ? scheduledAt.getTime() - limitedAt.getTime() : null,
  };
}
