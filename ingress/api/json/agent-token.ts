import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { agentTokenMembers } from "../../../shared/agents/members.ts";
import type { AgentToken } from "../../../shared/agents/token-store.ts";
import { presentMembers, shownOf } from "../../../shared/members/answers.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { graphqlId } from "../../../shared/presenters/graphql-id.ts";
import { presentUserById, userSchema } from "../../../shared/presenters/user.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api } from "../../../shared/settings/urls.ts";

export const agentTokenSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    ...shownOf(agentTokenMembers),
    url: field.url,
    cluster_url: field.url,
    created_at: field.timestamp,
    created_by: userSchema,
    last_used_at: field.timestamp.nullable(),
  })
  .meta({ id: "ClusterToken" });

export const createdAgentTokenSchema = agentTokenSchema
  .extend({ token: z.string().meta({ description: "Shown only in this answer" }) })
  .meta({ id: "CreatedClusterToken" });

/** @param token has its secret right after it was created */
export function presentAgentToken(
  config: Config,
  { slug }: Organization,
  token: AgentToken & { secret?: string },
  users: ReadonlyMap<string, User>,
) {
  const { id, clusterId, secret } = token;
  return {
    id,
    graphql_id: graphqlId("ClusterToken", id),
    ...presentMembers(agentTokenMembers, token),
    url: api.agentToken(config, { org: slug, cluster: clusterId, token: id }),
    cluster_url: api.cluster(config, slug, clusterId),
    created_at: token.createdAt,
    created_by: presentUserById(config, users, token.createdById),
    last_used_at: token.lastUsedAt,
    ...(secret && { token: secret }),
  };
}
