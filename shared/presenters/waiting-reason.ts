import { z } from "zod";
import type { WaitingReason } from "../agents/waiting/reason.ts";
import * as field from "./fields.ts";

const queueKinds = [
  "queue_paused",
  "no_agent",
  "no_agent_with_tags",
  "agents_paused",
  "agents_busy",
] as const;

/** The reason why a job waits. Members that a kind does not have are absent. */
export const waitingReasonSchema = z
  .object({
    kind: z.enum(["steps", "concurrency_group", "reserved", ...queueKinds]).meta({
      description:
        "`steps`: for other steps. `concurrency_group`: for its group alone. `reserved`: for the agent that a stack is about to start. `queue_paused`: for its queue. `no_agent`: none of the queue is connected. `no_agent_with_tags`: none that is has its tags. `agents_paused`: all that have them are paused, or about to stop. `agents_busy`: for its turn",
    }),
    job_ids: z.array(field.id).optional().meta({
      description:
        "Of `steps`: the first job of some steps that have not ended. Of `concurrency_group`: some that hold it, then some that go before it",
    }),
    missing_keys: z
      .array(z.string())
      .optional()
      .meta({ description: "Of `steps`: keys that no step of the build has yet" }),
    has_more: z.boolean().optional().meta({ description: "It waits for others too" }),
    stack: z.object({ id: field.id, key: z.string() }).nullable().optional().meta({
      description: "Of `reserved`: the stack. Null: it is gone, and the job will be scheduled again",
    }),
    reserved_until: field.timestamp.optional().meta({ description: "Of `reserved`" }),
    tags: z
      .array(z.string())
      .optional()
      .meta({ description: "Of `no_agent` and `no_agent_with_tags`: all that its agent must have" }),
    missing_tags: z.array(z.string()).optional().meta({
      description: "Of `no_agent_with_tags`: those that no agent has. Empty: no agent has all of them",
    }),
    agents: z
      .int()
      .optional()
      .meta({ description: "Of `agents_paused` and `agents_busy`: how many may run it" }),
    is_exact: z
      .boolean()
      .optional()
      .meta({ description: "false: the queue has more agents than were looked at" }),
  })
  .meta({ id: "WaitingReason" });

export function presentWaitingReason(reason: WaitingReason | undefined) {
  if (!reason) return null;
  const { kind } = reason;
  switch (kind) {
    case "steps": {
      const { jobIds, missingKeys, hasMore } = reason;
      return { kind, job_ids: jobIds, missing_keys: missingKeys, has_more: hasMore };
    }
    case "concurrency_group": {
      const { holders, ahead, hasMore } = reason.group;
      return { kind, job_ids: [...holders, ...ahead].map(({ jobId }) => jobId), has_more: hasMore };
    }
    case "reserved": {
      const { stack, until } = reason;
      return { kind, stack: stack ? { id: stack.id, key: stack.key } : null, reserved_until: until };
    }
    case "queue_paused":
      return { kind };
    case "no_agent":
      return { kind, tags: reason.tags };
    case "no_agent_with_tags": {
      const { tags, missing, isExact } = reason;
      return { kind, tags, missing_tags: missing, is_exact: isExact };
    }
    case "agents_paused":
    case "agents_busy":
      return { kind, agents: reason.agents, is_exact: reason.isExact };
  }
}
