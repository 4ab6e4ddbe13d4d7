import { isNull } from "drizzle-orm";
import type { Kit } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";

export function defineClustersTables(
  kit: Kit,
  { users, organizations }: Pick<AccountsTables, "users" | "organizations">,
) {
  const { table, index, uniqueIndex, uuid, text, integer, time } = kit;

  const clusters = table(
    "clusters",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      name: text().notNull(),
      description: text(),
      emoji: text(),
      color: text(),
      /** No foreign key: queues refer to clusters already. */
      defaultQueueId: uuid("default_queue_id"),
      /** Rises when a pipeline of it is made, moved there or gets other steps. */
      stepsVersion: integer("steps_version").notNull().default(0),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      deletedAt: time("deleted_at"),
    },
    (t) => [
      uniqueIndex("clusters_name").on(t.organizationId, t.name).where(isNull(t.deletedAt)),
      index("clusters_list").on(t.organizationId, t.createdAt, t.id).where(isNull(t.deletedAt)),
    ],
  );

  return { clusters };
}

export type ClustersTables = ReturnType<typeof defineClustersTables>;
