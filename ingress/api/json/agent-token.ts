import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { tokenDescription } from "../../../shared/agents/input.ts";
import type { AgentToken } from "../../../shared/agents/token-store.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api } from "../../../shared/settings/urls.ts";
import * as field from "../../operations/fields.ts";
import { graphqlId } from "./graphql-id.ts";
import { presentUserById, userSchema } from "./user.ts";

const everyAddress = "0.0.0.0/0";
const everyIpv6Address = "::/0";

export const agentTokenSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    description: z.string(),
    allowed_ip_addresses: z.literal(everyAddress),
    queue_id: field.id.nullable().meta({ description: "The only queue of its agents; null: any" }),
    url: field.url,
    cluster_url: field.url,
    created_at: field.timestamp,
    created_by: userSchema,
    expires_at: field.timestamp.nullable(),
    last_used_at: field.timestamp.nullable(),
  })
  .meta({ id: "ClusterToken" });

export const createdAgentTokenSchema = agentTokenSchema
  .extend({ token: z.string().meta({ description: "Shown only in this answer" }) })
  .meta({ id: "CreatedClusterToken" });

const allowedIpAddresses = z
  .string({ error: "Allowed IP addresses must be text" })
  .refine(isEveryAddress, {
    error: `Allowed IP addresses are not supported: leave them out, or set ${everyAddress}`,
  })
  .nullish()
  .meta({ description: `Only ${everyAddress}: a token registers agents of any address` });

function isEveryAddress(given: string): boolean {
  const ranges = given.split(/\s+/).filter(Boolean);
  if (ranges.length === 0) return true;
  return (
    ranges.includes(everyAddress) && ranges.every((each) => [everyAddress, everyIpv6Address].includes(each))
  );
}

export const createAgentTokenBody = z
  .object({
    description: tokenDescription.nullish(),
    allowed_ip_addresses: allowedIpAddresses,
    queue_id: z
      .string({ error: "Queue must be a queue of the cluster" })
      .nullish()
      .meta({ description: "Register agents of this queue only" }),
    expires_at: z.iso
      .datetime({ offset: true, error: "Expiry must be a time like 2026-01-31T12:00:00Z" })
      .nullish()
      .meta({ description: "End registering at this time" }),
  })
  .transform((body) => ({
    description: body.description ?? "",
    queueId: body.queue_id ?? null,
    expiresAt: body.expires_at ? new Date(body.expires_at) : null,
  }));

/** Null clears the description. */
export const updateAgentTokenBody = z
  .object({
    description: tokenDescription.nullish(),
    allowed_ip_addresses: allowedIpAddresses,
  })
  .transform((body) => (body.description === undefined ? {} : { description: body.description ?? "" }));

export function presentAgentToken(
  config: Config,
  { slug }: Organization,
  token: AgentToken,
  users: ReadonlyMap<string, User>,
) {
  const { id, clusterId } = token;
  return {
    id,
    graphql_id: graphqlId("ClusterToken", id),
    description: token.description,
    allowed_ip_addresses: everyAddress,
    queue_id: token.queueId,
    url: api.agentToken(config, { org: slug, cluster: clusterId, token: id }),
    cluster_url: api.cluster(config, slug, clusterId),
    created_at: token.createdAt,
    created_by: presentUserById(config, users, token.createdById),
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
  };
}
