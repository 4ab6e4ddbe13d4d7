import { z } from "zod";
import { secondMs } from "../../../shared/durations.ts";
import { patterns } from "../../../shared/paths.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { organizationSchema, presentOrganization } from "../../../shared/presenters/organization.ts";
import type { Services } from "../../../shared/services/services.ts";
import { findApiLimit } from "../../http/limits/limits.ts";
import { seconds } from "../../http/limits/rate-limit.ts";
import { readPage } from "../../http/number-pager.ts";
import { operation } from "../../operations/operation.ts";
import { linkPages, pageQuery } from "../json/list.ts";

const rateLimitSchema = z.object({
  scopes: z.object({
    rest: z.object({
      limit: z.int().meta({ description: "Requests in a minute" }),
      current: z.int().meta({ description: "Those that were made" }),
      reset: z.int().meta({ description: "Seconds until more are admitted" }),
      reset_at: field.timestamp,
      enforced: z.boolean(),
    }),
  }),
});
const emojiSchema = z.object({ name: z.string(), url: field.url });

export function organizationOperations(services: Services) {
  const { config } = services;
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
    operation({
      methods: ["GET"],
      path: patterns.rateLimit,
      id: "getRateLimit",
      tag,
      summary: "The limit of requests, which each access token has for itself",
      success: { status: 200, schema: rateLimitSchema, description: "The limit" },
      run: async ({ caller }) => {
        const { limit, remaining, resetMs } = await findApiLimit(services, caller.token.id);
        const reset = seconds(resetMs);
        const resetAt = new Date(services.clock.now().getTime() + reset * secondMs);
        const current = limit - remaining;
        return { scopes: { rest: { limit, current, reset, reset_at: resetAt, enforced: true } } };
      },
    }),
    operation({
      methods: ["GET"],
      path: patterns.emojis,
      id: "listEmojis",
      tag,
      summary: "Emojis of the organization's own: there are none",
      success: { status: 200, schema: z.array(emojiSchema), description: "An empty list" },
      run: async () => [],
    }),
  ];
}
