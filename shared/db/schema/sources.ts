import { isNotNull } from "drizzle-orm";
import { type Kit, sealingKey } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { PipelinesTables } from "./pipelines.ts";

export function defineSourcesTables(
  kit: Kit,
  {
    organizations,
    users,
    pipelines,
  }: Pick<AccountsTables, "organizations" | "users"> & Pick<PipelinesTables, "pipelines">,
) {
  const { table, index, uniqueIndex, primaryKey, uuid, text, integer, boolean, time, json } = kit;

  /** Source hosts of an organization, and what Signalbox needs to call them. */
  const repositoryConnections = table(
    "repository_connections",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      type: text().notNull(),
      /** The host name of its repositories, in lower case. */
      host: text().notNull(),
      url: text().notNull(),
      /** Null: the usual one of its type. */
      apiUrl: text("api_url"),
      /** Null: it is never called. */
      tokenSealed: text("token_sealed"),
      publishStatuses: boolean("publish_statuses").notNull().default(true),
      /** Networks that may send webhooks. Null: all. */
      webhookAllowedAddresses: json<string[]>("webhook_allowed_addresses"),
      /** The host has refused its token since then. */
      failingSince: time("failing_since"),
      /** The host is not called before it, as it refused the token or asked for patience. */
      restsUntil: time("rests_until"),
      /** Admins were mailed then that it fails. Null: it has worked since. */
      failureMailedAt: time("failure_mailed_at"),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      updatedAt: time("updated_at").notNull(),
      updatedById: uuid("updated_by_id")
        .notNull()
        .references(() => users.id),
    },
    (t) => [
      uniqueIndex("repository_connections_host").on(t.organizationId, t.host),
      index("repository_connections_list").on(t.organizationId, t.id),
      index("repository_connections_token_key")
        .on(sealingKey(t.tokenSealed), t.id)
        .where(isNotNull(t.tokenSealed)),
    ],
  );

  /** The latest news of each open pull request: builds of its pushed branch get its facts. */
  const openRequests = table(
    "open_requests",
    {
      pipelineId: uuid("pipeline_id")
        .notNull()
        .references(() => pipelines.id, { onDelete: "cascade" }),
      number: integer().notNull(),
      branch: text().notNull(),
      /** As shared/sources/happened.ts has them. */
      facts: json<Record<string, unknown>>().notNull(),
      updatedAt: time("updated_at").notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.pipelineId, t.number] }),
      index("open_requests_branch").on(t.pipelineId, t.branch, t.number),
      index("open_requests_age").on(t.updatedAt),
    ],
  );

  return { repositoryConnections, openRequests };
}
