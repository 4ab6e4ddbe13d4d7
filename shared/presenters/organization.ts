import { z } from "zod";
import type { Organization } from "../accounts/organization-store.ts";
import type { Config } from "../settings/config.ts";
import { api, web } from "../settings/urls.ts";
import * as field from "./fields.ts";
import { graphqlId } from "./graphql-id.ts";

export const organizationSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    url: field.url,
    web_url: field.url,
    name: z.string(),
    slug: z.string(),
    pipelines_url: field.url,
    agents_url: field.url,
    created_at: field.timestamp,
  })
  .meta({ id: "Organization" });

export function presentOrganization(config: Config, { id, name, slug, createdAt }: Organization) {
  const url = api.organization(config, slug);
  return {
    id,
    graphql_id: graphqlId("Organization", id),
    url,
    web_url: web.organization(config, slug),
    name,
    slug,
    pipelines_url: `${url}/pipelines`,
    agents_url: `${url}/agents`,
    created_at: createdAt,
  };
}
