import { isNull } from "drizzle-orm";
import type { DeliveryReason, DeliveryStatus, RefusalCause, StoredHeader } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { PipelinesTables } from "./pipelines.ts";

export function defineTriggersTables(
  kit: Kit,
  {
    users,
    organizations,
    pipelines,
  }: Pick<AccountsTables, "users" | "organizations"> & Pick<PipelinesTables, "pipelines">,
) {
  const { table, index, primaryKey, uuid, text, integer, boolean, time, json, bytes } = kit;

  /** A deleted trigger keeps its row for the deliveries that it accepted, but no token leads to it. */
  const triggers = table(
    "triggers",
    {
      id: uuid().primaryKey(),
      pipelineId: uuid("pipeline_id")
        .notNull()
        .references(() => pipelines.id),
      type: text().notNull(),
      label: text().notNull(),
      enabled: boolean().notNull(),
      /** Rises with every change, so that who read an older one notices. */
      version: integer().notNull(),
      /** Null: the default of spec §2.6. */
      buildMessage: text("build_message"),
      buildCommit: text("build_commit"),
      buildBranch: text("build_branch"),
      environmentSealed: text("environment_sealed"),
      /** A CEL expression; null: every delivery builds. */
      filter: text(),
      secretSealed: text("secret_sealed"),
      tokenHash: text("token_hash").notNull().unique(),
      tokenHint: text("token_hint").notNull(),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      updatedAt: time("updated_at").notNull(),
      updatedById: uuid("updated_by_id")
        .notNull()
        .references(() => users.id),
      deletedAt: time("deleted_at"),
    },
    (t) => [index("triggers_pipeline").on(t.pipelineId, t.id)],
  );

  /** A webhook that was answered 201. Until a worker has judged it, `status` is null. */
  const deliveries = table(
    "deliveries",
    {
      id: uuid().primaryKey(),
      triggerId: uuid("trigger_id")
        .notNull()
        .references(() => triggers.id),
      receivedAt: time("received_at").notNull(),
      contentType: text("content_type").notNull(),
      externalId: text("external_id"),
      size: integer().notNull(),
      status: text().$type<DeliveryStatus>(),
      reason: text().$type<DeliveryReason>(),
      /** When a job was last sent for it: a lost job is sent again some time after. */
      enqueuedAt: time("enqueued_at").notNull(),
    },
    (t) => [
      index("deliveries_trigger").on(t.triggerId, t.id),
      index("deliveries_waiting").on(t.enqueuedAt).where(isNull(t.status)),
    ],
  );

  /** The bytes of a delivery exactly as they came, until they are evicted. */
  const payloads = table(
    "payloads",
    {
      deliveryId: uuid("delivery_id")
        .primaryKey()
        .references(() => deliveries.id, { onDelete: "cascade" }),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      size: integer().notNull(),
      headers: json<StoredHeader[]>().notNull(),
      body: bytes().notNull(),
    },
    (t) => [index("payloads_organization").on(t.organizationId, t.deliveryId, t.size)],
  );

  /** Deliveries that a trigger did not accept, so that a sender's trouble can be found: they leave no other record. */
  const refusedDeliveries = table(
    "refused_deliveries",
    {
      triggerId: uuid("trigger_id")
        .notNull()
        .references(() => triggers.id, { onDelete: "cascade" }),
      /** The beginning of the hour in which they came. */
      hour: time("hour").notNull(),
      cause: text().$type<RefusalCause>().notNull(),
      count: integer().notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.triggerId, t.hour, t.cause] }),
      index("refused_deliveries_age").on(t.hour),
    ],
  );

  const idempotencyKeys = table(
    "idempotency_keys",
    {
      triggerId: uuid("trigger_id")
        .notNull()
        .references(() => triggers.id),
      key: text().notNull(),
      deliveryId: uuid("delivery_id").notNull(),
      createdAt: time("created_at").notNull(),
    },
    (t) => [primaryKey({ columns: [t.triggerId, t.key] }), index("idempotency_keys_age").on(t.createdAt)],
  );

  return { triggers, deliveries, payloads, refusedDeliveries, idempotencyKeys };
}

export type TriggersTables = ReturnType<typeof defineTriggersTables>;
