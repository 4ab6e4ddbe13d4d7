import { z } from "zod";
import type { User } from "../accounts/user-store.ts";
import type { JobWithOwners } from "../agents/list-store.ts";
import type { Agent } from "../agents/store.ts";
import type { Queue } from "../queues/store.ts";
import { type AgentContext, agentSummarySchema, presentAgentSummary } from "./agent-summary.ts";
import { jobSchema, presentJob } from "./job.ts";
import { presentUserById, userSchema } from "./user.ts";

export const agentSchema = agentSummarySchema
  .extend({
    queue: z.string().meta({ description: "The key of its queue" }),
    paused_by: userSchema.nullable().meta({ description: "Null: the agent itself, or it is not paused" }),
    job: jobSchema.nullable().meta({ description: "The job that the agent has" }),
  })
  .meta({ id: "Agent" });

export interface AgentsContext extends AgentContext {
  /** At least those who paused the agents. */
  users: ReadonlyMap<string, User>;
  /** At least the jobs of the agents. */
  jobs: ReadonlyMap<string, JobWithOwners>;
  /** At least the queues of the agents. */
  queues: ReadonlyMap<string, Queue>;
}

export function presentAgent(context: AgentsContext, agent: Agent) {
  const { config, users, jobs, queues } = context;
  const summary = presentAgentSummary(context, agent);
  const placed = jobs.get(agent.jobId ?? "");
  const jobContext = { ...context, agents: new Map([[agent.id, agent]]) };
  return {
    ...summary,
    queue: queues.get(agent.queueId)?.key ?? "",
    paused_by: summary.paused ? presentUserById(config, users, agent.pausedById) : null,
    job: placed
      ? presentJob(jobContext, { ...placed, queue: queues.get(placed.job.queueId ?? "") ?? null })
      : null,
  };
}
