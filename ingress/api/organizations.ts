import { defineHandler } from "h3";
import type { Organization } from "../../shared/accounts/store.ts";
import type { Config } from "../../shared/config.ts";
import { api, web } from "../../shared/paths.ts";
import type { Services } from "../../shared/services.ts";
import { requireCaller } from "../principal.ts";
import { graphqlId } from "./graphql-id.ts";
import { linkPages, readPage } from "./pagination.ts";

/** GET /v2/organizations: the one that the token belongs to. */
export function listOrganizationsHandler(services: Services) {
  const { config } = services;
  return defineHandler(async (event) => {
    const { organization } = await requireCaller(services, event, "read_organizations");
    const page = readPage(event);

    linkPages(event, page, 1, config.baseUrl);
    return page.number === 1 ? [presentOrganization(config, organization)] : [];
  });
}

/** GET /v2/organizations/:org */
export function getOrganizationHandler(services: Services) {
  return defineHandler(async (event) => {
    const { organization } = await requireCaller(services, event, "read_organizations");
    return presentOrganization(services.config, organization);
  });
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
