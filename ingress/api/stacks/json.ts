import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { Stack } from "../../../shared/agents/stacks/store.ts";
import * as field from "../../../shared/presenters/fields.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api } from "../../../shared/settings/urls.ts";
import { stackTypes } from "../../../shared/vocabulary.ts";

export const stackSchema = z
  .object({
    id: field.id,
    url: field.url,
    key: z.string(),
    type: z.enum(stackTypes),
    state: z.enum(["connected", "lost"]),
    metadata: z.record(z.string(), z.string()),
    cluster_id: field.id,
    cluster_url: field.url,
    cluster_queue_id: field.id,
    queue: z.string().meta({ description: "The key of the queue that it says it serves" }),
    reserved_jobs_count: z.int().meta({
      description: "Jobs that it has reserved. It counts no further than 1,000",
    }),
    created_at: field.timestamp,
    last_connected_at: field.timestamp.meta({ description: "Its last call, within half a minute" }),
    lost_at: field.timestamp.nullable(),
  })
  .meta({ id: "Stack" });

export interface StackContext {
  config: Config;
  organization: Organization;
  /** At least the queues of the stacks. */
  queues: ReadonlyMap<string, Queue>;
  /** By stack. Absent: none. */
  reserved: ReadonlyMap<string, number>;
}

export function presentStack({ config, organization, queues, reserved }: StackContext, stack: Stack) {
  const { id, key, type, lostAt, metadata, clusterId, queueId, createdAt, seenAt } = stack;
  return {
    id,
    url: api.stack(config, organization.slug, id),
    key,
    type,
    state: lostAt ? "lost" : "connected",
    metadata,
    cluster_id: clusterId,
    cluster_url: api.cluster(config, organization.slug, clusterId),
    cluster_queue_id: queueId,
    queue: queues.get(queueId)?.key ?? "",
    reserved_jobs_count: reserved.get(id) ?? 0,
    created_at: createdAt,
    last_connected_at: seenAt,
    lost_at: lostAt,
  };
}
