import { z } from "zod";
import { hasLostJob, isPaused } from "../agents/hand-out/hand-out.ts";
import type { Agent } from "../agents/store.ts";
import { minuteMs } from "../durations.ts";
import type { Config } from "../settings/config.ts";
import { api, web } from "../settings/urls.ts";
import * as field from "./fields.ts";
import { graphqlId } from "./graphql-id.ts";
import { timeText } from "./time-text.ts";

const connectionStates = [
  "never_connected",
  "connected",
  "stopping",
  "lost",
  "stopped",
  "disconnected",
] as const;

const dropped = "Empty a day after the agent ended";

/** An agent without the resources around it. */
export const agentSummarySchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    url: field.url,
    web_url: field.url,
    name: z.string(),
    connection_state: z.enum(connectionStates),
    cluster_id: field.id,
    cluster_queue_id: field.id,
    hostname: z.string().meta({ description: dropped }),
    ip_address: z.string().meta({ description: dropped }),
    user_agent: z.string().nullable(),
    version: z.string().meta({ description: dropped }),
    arch: z.string().meta({ description: dropped }),
    created_at: field.timestamp,
    connected_at: field.timestamp.nullable(),
    disconnected_at: field.timestamp.nullable(),
    lost_at: field.timestamp.nullable(),
    stopped_at: field.timestamp.nullable().meta({ description: "It ended because somebody asked it to" }),
    last_job_finished_at: field.timestamp.nullable(),
    lost_job_id: field.id.nullable().meta({
      description:
        "The job that the agent had when it was lost, until it asks for another. It may still run the command, or repeat reports, which are refused",
    }),
    priority: z.int().nullable(),
    meta_data: z.array(z.string()).meta({ description: `Tags, as key=value. ${dropped}` }),
    paused: z.boolean(),
    paused_at: field.timestamp.nullable(),
    paused_note: z.string().nullable(),
    paused_timeout_in_minutes: z.int().nullable().meta({ description: "Null: until somebody resumes it" }),
  })
  .meta({ id: "AgentSummary" });

export interface AgentContext {
  config: Config;
  /** Slug of the organization. */
  org: string;
  now: Date;
}

export function presentAgentSummary({ config, org, now }: AgentContext, agent: Agent) {
  const { id, pausedAt, pausedUntil } = agent;
  const paused = isPaused(agent, now);
  return {
    id,
    graphql_id: graphqlId("Agent", id),
    url: api.agent(config, org, id),
    web_url: web.agent(config, org, id),
    name: agent.name,
    connection_state: connectionState(agent),
    cluster_id: agent.clusterId,
    cluster_queue_id: agent.queueId,
    hostname: agent.hostname,
    ip_address: agent.ip,
    user_agent: agent.userAgent,
    version: agent.version,
    arch: agent.arch,
    created_at: timeText(agent.createdAt),
    connected_at: timeText(agent.connectedAt),
    disconnected_at: timeText(agent.disconnectedAt),
    lost_at: timeText(agent.lostAt),
    stopped_at: timeText(agent.stopRequestedAt && agent.disconnectedAt),
    last_job_finished_at: timeText(agent.lastJobFinishedAt),
    lost_job_id: hasLostJob(agent) ? agent.lostJobId : null,
    priority: agent.priority,
    meta_data: agent.metaData,
    paused,
    paused_at: paused ? timeText(pausedAt) : null,
    paused_note: paused ? agent.pausedNote : null,
    paused_timeout_in_minutes:
      paused && pausedAt && pausedUntil
        ? Math.round((pausedUntil.getTime() - pausedAt.getTime()) / minuteMs)
        : null,
  };
}

function connectionState({ state, stopRequestedAt }: Agent): (typeof connectionStates)[number] {
  if (state === "registered") return "never_connected";
  if (state === "lost") return "lost";
  if (state === "connected") return stopRequestedAt ? "stopping" : "connected";
  return stopRequestedAt ? "stopped" : "disconnected";
}
