import { isNull } from "drizzle-orm";
import type { BulkRebuildFilter } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { TriggersTables } from "./triggers.ts";

export function defineBulkRebuildsTables(
  kit: Kit,
  {
    users,
    organizations,
    triggers,
  }: Pick<AccountsTables, "users" | "organizations"> & Pick<TriggersTables, "triggers">,
) {
  const { table, index, uuid, integer, time, json } = kit;

  /** Builds deliveries of a trigger again, in the order of their ids. */
  const bulkRebuilds = table(
    "bulk_rebuilds",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      triggerId: uuid("trigger_id")
        .notNull()
        .references(() => triggers.id, { onDelete: "cascade" }),
      filter: json<BulkRebuildFilter>().notNull(),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      /** The deliveries that matched when it was asked for. */
      total: integer().notNull(),
      /** Later deliveries are not built. Deliveries may be purged, so it is no reference. */
      lastDeliveryId: uuid("last_delivery_id").notNull(),
      /** The last delivery that was done; null at first. */
      position: uuid(),
      built: integer().notNull(),
      /** Deliveries without a payload, or not decided yet. */
      skipped: integer().notNull(),
      failed: integer().notNull(),
      canceledAt: time("canceled_at"),
      /** Also set when it is canceled. */
      finishedAt: time("finished_at"),
    },
    (t) => [
      index("bulk_rebuilds_trigger").on(t.triggerId, t.id),
      index("bulk_rebuilds_running").on(t.organizationId, t.triggerId).where(isNull(t.finishedAt)),
      index("bulk_rebuilds_age").on(t.finishedAt),
    ],
  );

  return { bulkRebuilds };
}
