import { isNotNull, isNull, sql } from "drizzle-orm";
import type { Kit } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";

export function defineOauthTables(
  kit: Kit,
  { users, members, organizations }: Pick<AccountsTables, "users" | "members" | "organizations">,
) {
  const { table, index, foreignKey, uuid, text, integer, boolean, time, json } = kit;

  /** OAuth clients. Public ones have no secret. */
  const applications = table("applications", {
    id: uuid().primaryKey(),
    clientId: text("client_id").notNull().unique(),
    name: text().notNull(),
    secretHash: text("secret_hash"),
    deviceFlow: boolean("device_flow").notNull(),
    refreshTokens: boolean("refresh_tokens").notNull(),
    /** Null: tokens do not expire. */
    accessTokenMinutes: integer("access_token_minutes"),
    disabledAt: time("disabled_at"),
    createdAt: time("created_at").notNull(),
  });

  /** Deleting a grant, or its membership, deletes its tokens. */
  const grants = table(
    "grants",
    {
      id: uuid().primaryKey(),
      applicationId: uuid("application_id")
        .notNull()
        .references(() => applications.id),
      userId: uuid("user_id").notNull(),
      organizationId: uuid("organization_id").notNull(),
      scopes: json<string[]>().notNull(),
      approvedUserAgent: text("approved_user_agent"),
      approvedIp: text("approved_ip"),
      createdAt: time("created_at").notNull(),
      lastUsedAt: time("last_used_at"),
      lastUserAgent: text("last_user_agent"),
      lastIp: text("last_ip"),
    },
    (t) => [
      foreignKey({
        name: "grants_member",
        columns: [t.organizationId, t.userId],
        foreignColumns: [members.organizationId, members.userId],
      }).onDelete("cascade"),
      index("grants_of_member").on(t.organizationId, t.userId),
      index("grants_user").on(t.userId, t.id),
      index("grants_application").on(t.applicationId),
    ],
  );

  const refreshTokens = table(
    "refresh_tokens",
    {
      tokenHash: text("token_hash").primaryKey(),
      grantId: uuid("grant_id")
        .notNull()
        .references(() => grants.id, { onDelete: "cascade" }),
      createdAt: time("created_at").notNull(),
      expiresAt: time("expires_at").notNull(),
      /** Time of the exchange for the next token. */
      rotatedAt: time("rotated_at"),
    },
    (t) => [
      index("refresh_tokens_grant").on(t.grantId),
      index("refresh_tokens_current").on(t.grantId, t.createdAt).where(isNull(t.rotatedAt)),
      index("refresh_tokens_expiry").on(t.expiresAt),
    ],
  );

  const accessTokens = table(
    "access_tokens",
    {
      id: uuid().primaryKey(),
      tokenHash: text("token_hash").notNull().unique(),
      userId: uuid("user_id")
        .notNull()
        .references(() => users.id),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      scopes: json<string[]>().notNull(),
      description: text().notNull(),
      createdAt: time("created_at").notNull(),
      expiresAt: time("expires_at"),
      revokedAt: time("revoked_at"),
      /** Null for a user's own API access token. */
      grantId: uuid("grant_id").references(() => grants.id, { onDelete: "cascade" }),
      lastUsedAt: time("last_used_at"),
    },
    (t) => [
      index("access_tokens_user").on(t.userId),
      index("access_tokens_own")
        .on(t.userId, t.organizationId)
        .where(sql`${t.grantId} is null and ${t.revokedAt} is null`),
      index("access_tokens_grant").on(t.grantId),
      index("access_tokens_expiry").on(t.expiresAt).where(isNotNull(t.expiresAt)),
      index("access_tokens_revocation").on(t.revokedAt).where(isNotNull(t.revokedAt)),
    ],
  );

  return { applications, grants, refreshTokens, accessTokens };
}

export type OauthTables = ReturnType<typeof defineOauthTables>;
