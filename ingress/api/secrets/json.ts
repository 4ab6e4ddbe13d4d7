import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { presentMembers, shownOf } from "../../../shared/members/answers.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { graphqlId } from "../../../shared/presenters/graphql-id.ts";
import { presentUserById, userSchema } from "../../../shared/presenters/user.ts";
import { secretMembers } from "../../../shared/secrets/members.ts";
import type { ListedSecret } from "../../../shared/secrets/store.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api, web } from "../../../shared/settings/urls.ts";

export const secretSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    ...shownOf(secretMembers),
    url: field.url,
    cluster_url: field.url,
    created_at: field.timestamp,
    created_by: userSchema,
    updated_at: field.timestamp,
    updated_by: userSchema,
    last_read_at: field.timestamp.nullable().meta({ description: "Stored once an hour at most" }),
    organization: z.object({ id: field.id, slug: z.string(), url: field.url, web_url: field.url }),
  })
  .meta({ id: "Secret" });

/** Never has the value. */
export function presentSecret(
  config: Config,
  { id: organizationId, slug }: Organization,
  secret: ListedSecret,
  users: ReadonlyMap<string, User>,
) {
  const { id, clusterId } = secret;
  return {
    id,
    graphql_id: graphqlId("Secret", id),
    ...presentMembers(secretMembers, secret),
    url: api.secret(config, { org: slug, cluster: clusterId, secret: id }),
    cluster_url: api.cluster(config, slug, clusterId),
    created_at: secret.createdAt,
    created_by: presentUserById(config, users, secret.createdById),
    updated_at: secret.updatedAt,
    updated_by: presentUserById(config, users, secret.updatedById),
    last_read_at: secret.lastReadAt,
    organization: {
      id: organizationId,
      slug,
      url: api.organization(config, slug),
      web_url: web.organization(config, slug),
    },
  };
}
