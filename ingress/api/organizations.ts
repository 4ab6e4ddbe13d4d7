import { z } from "zod";
import type { Organization } from "../../shared/accounts/organization-store.ts";
import { api, patterns, web } from "../../shared/paths.ts";
import type { Config } from "../../shared/runtime/config.ts";
import type { Services } from "../../shared/runtime/services.ts";
import { linkPages, pageQuery, readPage } from "../http/number-pager.ts";
import * as field from "./json/fields.ts";
import { graphqlId } from "./json/graphql-id.ts";
import { operation } from "./operation.ts";

const organizationSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    url: field.url,
    web_url: field.url,
    name: z.string(),
    slug: z.string(),
    pipelines_url: field.url,
    created_at: field.timestamp,
  })
  .meta({ id: "Organization" });

export function organizationOperations({ config }: Services) {
  const tag = "Organizations";
  const scope = "read_organizations" as const;
  return [
    operation({
      methods: ["GET"],
      path: patterns.organizations,
      id: "listOrganizations",
      tag,
      summary: "The organization that the token belongs to",
      scope,
      query: pageQuery,
      success: { status: 200, schema: z.array(organizationSchema), description: "A list of one" },
      run: async ({ event, caller }) => {
        const page = readPage(event);
        linkPages(event, page, 1, config.baseUrl);
        return page.number === 1 ? [presentOrganization(config, caller.organization)] : [];
      },
    }),
    operation({
      methods: ["GET"],
      path: patterns.organization,
      id: "getOrganization",
      tag,
      summary: "An organization",
      scope,
      success: { status: 200, schema: organizationSchema, description: "The organization" },
      run: async ({ caller }) => presentOrganization(config, caller.organization),
    }),
  ];
}

function presentOrganization(config: Config, { id, name, slug, createdAt }: Organization) {
  const url = api.organization(config, slug);
  return {
    id,
    graphql_id: graphqlId("Organization", id),
    url,
    web_url: web.organization(config, slug),
    name,
    slug,
    pipelines_url: `${url}/pipelines`,
    created_at: createdAt,
  };
}
