import { sql } from "drizzle-orm";
import { type Kit, sealingKey } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { ClustersTables } from "./clusters.ts";

export function defineSecretsTables(
  kit: Kit,
  {
    organizations,
    users,
    clusters,
  }: Pick<AccountsTables, "organizations" | "users"> & Pick<ClustersTables, "clusters">,
) {
  const { table, index, uniqueIndex, uuid, text, boolean, time, json } = kit;

  /** Values that jobs of a cluster may read. */
  const secrets = table(
    "secrets",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      clusterId: uuid("cluster_id")
        .notNull()
        .references(() => clusters.id),
      /** Its name, unique in the cluster whatever its case. */
      key: text().notNull(),
      description: text(),
      /** YAML, as its author wrote it. Null: every job of the cluster may read it. */
      policy: text(),
      valueSealed: text("value_sealed").notNull(),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      updatedAt: time("updated_at").notNull(),
      updatedById: uuid("updated_by_id")
        .notNull()
        .references(() => users.id),
      /** Written late, once an hour at most. */
      lastReadAt: time("last_read_at"),
    },
    (t) => [
      uniqueIndex("secrets_key").on(t.clusterId, sql`lower(${t.key})`),
      index("secrets_list").on(t.clusterId, t.id),
      index("secrets_sealing_key").on(sealingKey(t.valueSealed), t.id),
    ],
  );

  /** Keys that sign the identity tokens of jobs. */
  const signingKeys = table(
    "signing_keys",
    {
      /** The `kid` of its tokens. */
      id: uuid().primaryKey(),
      /** The public key as a JWK (RFC 7517). */
      publicKey: json<Record<string, string>>("public_key").notNull(),
      /** The private key as a JWK. */
      privateKeySealed: text("private_key_sealed").notNull(),
      createdAt: time("created_at").notNull(),
      /** It signs new tokens from then on: readers of the key set have learnt it by then. */
      activeAt: time("active_at").notNull(),
      /** Exactly one key is the newest, whoever makes keys at once. */
      isNewest: boolean("is_newest").notNull(),
      /** It is shown until then, for tokens that it signed. Null: it signs, or will. */
      retiresAt: time("retires_at"),
    },
    (t) => [
      uniqueIndex("signing_keys_newest").on(t.isNewest).where(sql`${t.isNewest}`),
      index("signing_keys_sealing_key").on(sealingKey(t.privateKeySealed), t.id),
    ],
  );

  return { secrets, signingKeys };
}
