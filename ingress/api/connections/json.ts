import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { connectionMembers } from "../../../shared/connections/members.ts";
import type { Connection } from "../../../shared/connections/store.ts";
import {
  type ConnectionType,
  connectionTypes,
  titleOfConnection,
} from "../../../shared/connections/types.ts";
import { presentMembers, shownOf } from "../../../shared/members/answers.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { presentUserById, userSchema } from "../../../shared/presenters/user.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api, web } from "../../../shared/settings/urls.ts";

export const connectionSchema = z
  .object({
    id: field.id,
    ...shownOf(connectionMembers),
    display_name: z.string(),
    url: field.url,
    web_url: field.url,
    has_token: z.boolean(),
    failing_since: field.timestamp
      .nullable()
      .meta({ description: "The host has refused the token since then" }),
    service_account: z.null().meta({ description: "Always null: the host says for whom a token is" }),
    host: z.object({
      type: z.enum(connectionTypes),
      url: field.url,
      webhook_allowed_addresses: z.array(z.string()).nullable(),
    }),
    rate_limit: z.null().meta({ description: "Always null: not known" }),
    created_at: field.timestamp,
    created_by: userSchema,
    updated_at: field.timestamp,
    updated_by: userSchema,
  })
  .meta({ id: "RepositoryConnection" });

/** Never has the token. */
export function presentConnection(
  config: Config,
  { slug }: Organization,
  connection: Connection,
  users: ReadonlyMap<string, User>,
) {
  const { id, url, webhookAllowedAddresses } = connection;
  const type = connection.type as ConnectionType;
  return {
    id,
    ...presentMembers(connectionMembers, connection),
    display_name: titleOfConnection(connection),
    url: api.connection(config, slug, id),
    web_url: web.connection(config, slug, id),
    has_token: connection.tokenSealed !== null,
    failing_since: connection.failingSince,
    service_account: null,
    host: { type, url, webhook_allowed_addresses: webhookAllowedAddresses },
    rate_limit: null,
    created_at: connection.createdAt,
    created_by: presentUserById(config, users, connection.createdById),
    updated_at: connection.updatedAt,
    updated_by: presentUserById(config, users, connection.updatedById),
  };
}
