import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { clusterMembers } from "../../../shared/clusters/input.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api, web } from "../../../shared/settings/urls.ts";
import { clusterName } from "../../../shared/validation.ts";
import * as field from "../../operations/fields.ts";
import { graphqlId } from "./graphql-id.ts";
import { presentUserById, userSchema } from "./user.ts";

export const clusterSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    default_queue_id: field.id.nullable(),
    name: z.string(),
    description: z.string().nullable(),
    emoji: z.string().nullable(),
    color: z.string().nullable(),
    url: field.url,
    web_url: field.url,
    queues_url: field.url,
    default_queue_url: field.url.nullable(),
    created_at: field.timestamp,
    created_by: userSchema,
  })
  .meta({ id: "Cluster" });

export const updateClusterBody = z
  .object({
    name: clusterName.optional(),
    ...clusterMembers,
    default_queue_id: z
      .string({ error: "Default queue must be a queue of the cluster" })
      .nullish()
      .meta({ description: "A queue of the cluster, for steps that name none" }),
  })
  .transform(({ default_queue_id, ...change }) => ({
    ...change,
    defaultQueueId: default_queue_id,
  }));

export function presentCluster(
  config: Config,
  { slug }: Organization,
  cluster: Cluster,
  users: ReadonlyMap<string, User>,
) {
  const { id, defaultQueueId } = cluster;
  const url = api.cluster(config, slug, id);
  return {
    id,
    graphql_id: graphqlId("Cluster", id),
    default_queue_id: defaultQueueId,
    name: cluster.name,
    description: cluster.description,
    emoji: cluster.emoji,
    color: cluster.color,
    url,
    web_url: web.cluster(config, slug, id),
    queues_url: `${url}/queues`,
    default_queue_url:
      defaultQueueId === null ? null : api.queue(config, { org: slug, cluster: id, queue: defaultQueueId }),
    created_at: cluster.createdAt,
    created_by: presentUserById(config, users, cluster.createdById),
  };
}
