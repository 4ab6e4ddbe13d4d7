import { z } from "zod";
import { type Given, inputOf } from "../members/bodies.ts";
import type { Members } from "../members/member.ts";
import { clusterName, color, description, emoji } from "../validation.ts";
import type { Cluster } from "./store.ts";

const optionalText = z.string().nullable();

/** The members of a cluster. */
export const clusterMembers = {
  name: {
    rule: "1 to 100 characters; unique in the organization",
    create: clusterName,
    change: clusterName.optional(),
    shown: z.string(),
    audited: "values",
    field: { label: "Name" },
    option: ["<name>", "its name"],
  },
  description: {
    rule: null,
    create: description.optional(),
    change: description.optional(),
    shown: optionalText,
    audited: "values",
    field: { label: "Description" },
    option: ["<text>", "its purpose"],
  },
  emoji: {
    rule: null,
    create: emoji,
    change: emoji,
    shown: optionalText,
    audited: "values",
  },
  color: {
    rule: null,
    create: color,
    change: color,
    shown: optionalText,
    audited: "values",
  },
  defaultQueueId: {
    rule: "for steps that name no queue; null at first. It cannot become null again while a pipeline has such a step",
    change: z
      .string({ error: "Default queue must be a queue of the cluster" })
      .nullish()
      .meta({ description: "A queue of the cluster, for steps that name none" }),
    shown: z.uuid().meta({ description: "UUID" }).nullable(),
    audited: "values",
    field: { label: "Default queue", name: "default_queue", kind: "choice" },
  },
} satisfies Members<
  Cluster,
  "id" | "organizationId" | "stepsVersion" | "createdAt" | "createdById" | "deletedAt"
>;

export type NewCluster = Given<typeof clusterMembers, "create">;
export type ClusterChange = Given<typeof clusterMembers, "change">;
export const newCluster = inputOf(clusterMembers, "create");
export const clusterChange = inputOf(clusterMembers, "change");
