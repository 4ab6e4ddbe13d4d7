import { z } from "zod";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readPage } from "../../http/number-pager.ts";
import { operation } from "../../operations/operation.ts";
import { linkPages, pageQuery } from "../json/list.ts";
import { organizationSchema, presentOrganization } from "../json/organization.ts";

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
        linkPages(event, { page, next: undefined, total: 1 }, config.baseUrl);
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
