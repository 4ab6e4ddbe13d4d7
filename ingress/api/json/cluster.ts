import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { clusterMembers } from "../../../shared/clusters/members.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { presentMembers, shownOf } from "../../../shared/members/answers.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { graphqlId } from "../../../shared/presenters/graphql-id.ts";
import { presentUserById, userSchema } from "../../../shared/presenters/user.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api, web } from "../../../shared/settings/urls.ts";

export const clusterSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    ...shownOf(clusterMembers),
    url: field.url,
    web_url: field.url,
    queues_url: field.url,
    default_queue_url: field.url.nullable(),
    created_at: field.timestamp,
    created_by: userSchema,
  })
  .meta({ id: "Cluster" });

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
    ...presentMembers(clusterMembers, cluster),
    url,
    web_url: web.cluster(config, slug, id),
    queues_url: `${url}/queues`,
    default_queue_url:
      defaultQueueId === null ? null : api.queue(config, { org: slug, cluster: id, queue: defaultQueueId }),
    created_at: cluster.createdAt,
    created_by: presentUserById(config, users, cluster.createdById),
  };
}
