import { isNotNull, isNull } from "drizzle-orm";
import type { RetryAgentAffinity } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { ClustersTables } from "./clusters.ts";

export function defineQueuesTables(
  kit: Kit,
  { users, clusters }: Pick<AccountsTables, "users"> & Pick<ClustersTables, "clusters">,
) {
  const { table, index, uniqueIndex, uuid, text, time } = kit;

  const queues = table(
    "queues",
    {
      id: uuid().primaryKey(),
      clusterId: uuid("cluster_id")
        .notNull()
        .references(() => clusters.id),
      key: text().notNull(),
      description: text(),
      retryAgentAffinity: text("retry_agent_affinity").$type<RetryAgentAffinity>().notNull(),
      dispatchPausedAt: time("dispatch_paused_at"),
      dispatchPausedById: uuid("dispatch_paused_by_id").references(() => users.id),
      dispatchPausedNote: text("dispatch_paused_note"),
      /** Null: self-hosted. */
      instanceShape: text("instance_shape"),
      /** Null: the default image. */
      agentImageRef: text("agent_image_ref"),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      /** The row stays for jobs that ran on the queue. */
      deletedAt: time("deleted_at"),
    },
    (t) => [
      uniqueIndex("queues_key").on(t.clusterId, t.key).where(isNull(t.deletedAt)),
      index("queues_list").on(t.clusterId, t.createdAt, t.id).where(isNull(t.deletedAt)),
      index("queues_paused").on(t.clusterId, t.id).where(isNotNull(t.dispatchPausedAt)),
    ],
  );

  return { queues };
}

export type QueuesTables = ReturnType<typeof defineQueuesTables>;
