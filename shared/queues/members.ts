import { z } from "zod";
import { type Given, inputOf } from "../members/bodies.ts";
import type { Members } from "../members/member.ts";
import type { Problem } from "../refusal.ts";
import { description, queueKey } from "../validation.ts";
import { type RetryAgentAffinity, retryAgentAffinities } from "../vocabulary.ts";
import type { HostedChange } from "./hosted.ts";
import type { ShapeName } from "./shapes.ts";
import type { Queue } from "./store.ts";

export const badAffinity: Problem = {
  field: "retry_agent_affinity",
  message: "Retry agent affinity must be prefer-warmest or prefer-different",
};
const affinity = z.enum(retryAgentAffinities, { error: badAffinity.message });

export function isAffinity(value: unknown): value is RetryAgentAffinity {
  return affinity.safeParse(value).success;
}

type Kept =
  | ("id" | "clusterId" | "createdAt" | "createdById" | "deletedAt")
  | ("dispatchPausedAt" | "dispatchPausedById" | "dispatchPausedNote");

/** The members of a queue. Those of `hostedAgents` have rules together, which `hosted.ts` holds. */
export const queueMembers = {
  key: {
    rule: "1 to 100 letters, digits, `-`, `_` and `:`; unique in its cluster, case-sensitive; never changes",
    create: queueKey.meta({ description: "The queue's name in steps and agent tags; it stays" }),
    shown: z.string(),
    audited: null,
    field: {
      label: "Key",
      hint: "Letters, numbers, hyphens, underscores and colons. Steps and agents name it; it cannot be changed.",
    },
    option: ["<key>", "its name in pipelines and agent tags"],
  },
  description: {
    rule: '`""` and null clear it; answers then have `""`',
    create: description.optional(),
    change: description.optional(),
    shown: z.string().meta({ description: "Empty if there is none" }),
    show: (queue) => queue.description ?? "",
    audited: "values",
    field: { label: "Description" },
    option: ["<text>", "its purpose"],
  },
  retryAgentAffinity: {
    rule: "`prefer-warmest` (default) or `prefer-different`; self-hosted queues only",
    create: affinity.optional(),
    change: affinity.optional(),
    default: "prefer-warmest",
    shown: z.enum(retryAgentAffinities).optional().meta({ description: "On self-hosted queues" }),
    show: (queue) => (queue.instanceShape === null ? queue.retryAgentAffinity : undefined),
    audited: "values",
    field: { label: "Retries prefer", name: "affinity", kind: "choice" },
  },
  instanceShape: {
    name: "hostedAgents.instanceShape",
    rule: null,
    shown: null,
    audited: "values",
    field: { label: "Agents", name: "shape", kind: "choice" },
  },
  agentImageRef: {
    name: "hostedAgents.agentImageRef",
    rule: 'update only, Linux only; null or `""` restores the default',
    shown: null,
    audited: "values",
    field: {
      label: "Agent image",
      name: "image",
      hint: "Address of a public image; empty for the default one.",
    },
  },
} satisfies Members<Queue, Kept>;

export type NewQueue = Given<typeof queueMembers, "create"> & {
  /** Absent: self-hosted agents. */
  instanceShape?: ShapeName | undefined;
  /** Makes it the queue of steps that name none. */
  isDefault?: boolean;
};

export type QueueChange = Omit<Given<typeof queueMembers, "change">, "retryAgentAffinity"> & {
  /** The value as sent. A hosted queue ignores it, even if invalid. */
  retryAgentAffinity?: unknown;
  hosted?: HostedChange | undefined;
};

/** Of a self-hosted queue. */
export const newQueue = inputOf(queueMembers, "create");
export const queueChange = inputOf(queueMembers, "change");
