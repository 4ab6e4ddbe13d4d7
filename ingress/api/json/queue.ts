import { z } from "zod";
import type { User } from "../../../shared/accounts/user-store.ts";
import { api, web } from "../../../shared/paths.ts";
import { requireShape, shapes } from "../../../shared/queues/shapes.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Config } from "../../../shared/runtime/config.ts";
import { presentUser, userSchema } from "../users.ts";
import * as field from "./fields.ts";
import { graphqlId } from "./graphql-id.ts";

export const shapeName = z.enum(shapes.map(({ name }) => name) as [string, ...string[]]);
export const affinity = z.enum(["prefer-warmest", "prefer-different"]);

const hostedAgents = z.object({
  instance_shape: z.object({
    machine_type: z.enum(["linux", "macos", "windows"]),
    architecture: z.enum(["amd64", "arm64"]),
    cpu: z.int(),
    memory: z.int().meta({ description: "GB" }),
    name: shapeName,
  }),
  platform_settings: z.object({
    linux: z.object({ agent_image_ref: z.string().nullable() }).optional(),
  }),
});

/** The queue of spec §2.4. */
export const queueSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    key: z.string(),
    description: z.string().nullable(),
    url: field.url,
    web_url: field.url,
    cluster_url: field.url,
    retry_agent_affinity: affinity.optional().meta({ description: "On self-hosted queues" }),
    dispatch_paused: z.boolean(),
    dispatch_paused_by: userSchema.nullable(),
    dispatch_paused_at: field.timestamp.nullable(),
    dispatch_paused_note: z.string().nullable(),
    created_at: field.timestamp,
    created_by: userSchema,
    hosted: z.literal(true).optional().meta({ description: "On hosted queues" }),
    hosted_agents: hostedAgents.optional().meta({ description: "On hosted queues" }),
  })
  .meta({ id: "Queue" });

/** @param users who made and paused the queue, at least */
export function presentQueue(config: Config, org: string, queue: Queue, users: ReadonlyMap<string, User>) {
  const address = { org, cluster: queue.clusterId, queue: queue.id };
  const by = (id: string | null) => {
    const user = id === null ? undefined : users.get(id);
    return user ? presentUser(config, user) : null;
  };
  return {
    id: queue.id,
    graphql_id: graphqlId("ClusterQueue", queue.id),
    key: queue.key,
    description: queue.description,
    url: api.queue(config, address),
    web_url: web.queue(config, address),
    cluster_url: api.cluster(config, org, queue.clusterId),
    ...(queue.instanceShape === null ? { retry_agent_affinity: queue.retryAgentAffinity } : {}),
    dispatch_paused: queue.dispatchPausedAt !== null,
    dispatch_paused_by: by(queue.dispatchPausedById),
    dispatch_paused_at: queue.dispatchPausedAt,
    dispatch_paused_note: queue.dispatchPausedNote,
    created_at: queue.createdAt,
    created_by: by(queue.createdById),
    ...(queue.instanceShape === null ? {} : presentHosted(queue.instanceShape, queue.agentImageRef)),
  };
}

function presentHosted(shapeName: string, agentImageRef: string | null) {
  const { name, machineType, architecture, cpu, memoryGb } = requireShape(shapeName);
  return {
    hosted: true,
    hosted_agents: {
      instance_shape: { machine_type: machineType, architecture, cpu, memory: memoryGb, name },
      platform_settings: machineType === "linux" ? { linux: { agent_image_ref: agentImageRef } } : {},
    },
  };
}

/** The ids of the users that a queue's JSON shows. */
export function usersOfQueue({ createdById, dispatchPausedById }: Queue): string[] {
  return dispatchPausedById === null ? [createdById] : [createdById, dispatchPausedById];
}
