import type { StackType } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { BuildsTables } from "./builds.ts";
import type { ClustersTables } from "./clusters.ts";
import type { QueuesTables } from "./queues.ts";

export function defineStacksTables(
  kit: Kit,
  {
    organizations,
    clusters,
    queues,
    jobs,
  }: Pick<AccountsTables, "organizations"> &
    Pick<ClustersTables, "clusters"> &
    Pick<QueuesTables, "queues"> &
    Pick<BuildsTables, "jobs">,
) {
  const { table, index, uniqueIndex, uuid, text, time, json } = kit;

  /** A scheduler outside, such as the controller of a Kubernetes cluster: it starts an agent for each job. */
  const stacks = table(
    "stacks",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      clusterId: uuid("cluster_id")
        .notNull()
        .references(() => clusters.id),
      /** The queue that it says it serves. */
      queueId: uuid("queue_id")
        .notNull()
        .references(() => queues.id),
      key: text().notNull(),
      type: text().$type<StackType>().notNull(),
      metadata: json<Record<string, string>>().notNull(),
      createdAt: time("created_at").notNull(),
      /** The time of its last call, which is stored now and then. */
      seenAt: time("seen_at").notNull(),
      /** Null: it is connected. */
      lostAt: time("lost_at"),
    },
    (t) => [
      uniqueIndex("stacks_key").on(t.clusterId, t.key),
      index("stacks_organization").on(t.organizationId, t.id),
      index("stacks_seen").on(t.lostAt, t.seenAt),
    ],
  );

  /** Notifications of stacks about jobs that they are about to start. */
  const stackNotifications = table(
    "stack_notifications",
    {
      id: uuid().primaryKey(),
      jobId: uuid("job_id")
        .notNull()
        .references(() => jobs.id, { onDelete: "cascade" }),
      detail: text().notNull(),
      /** By the clock of the stack. They arrive in any order. */
      notifiedAt: time("notified_at").notNull(),
    },
    (t) => [index("stack_notifications_job").on(t.jobId, t.notifiedAt, t.id)],
  );

  return { stacks, stackNotifications };
}
