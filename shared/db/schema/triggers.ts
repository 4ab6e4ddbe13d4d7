import { isNotNull, isNull, sql } from "drizzle-orm";
import type {
  DeliveryReason,
  DeliveryStatus,
  HmacSignature,
  PayloadCodec,
  RefusalCause,
  StoredHeader,
} from "../../vocabulary.ts";
import { type Kit, sealingKey } from "../columns.ts";
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
  const { table, index, uniqueIndex, primaryKey, uuid, text, integer, bigint, boolean, time, json, bytes } =
    kit;

  /** A deleted trigger's row stays for its deliveries. */
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
      /** Rises with every change: reveals that a cached trigger is stale. */
      version: integer().notNull(),
      /** Null: the default (ingress/api/README.md, "Triggers"). */
      buildMessage: text("build_message"),
      buildCommit: text("build_commit"),
      buildBranch: text("build_branch"),
      environmentSealed: text("environment_sealed"),
      /** CEL; null: every delivery builds. */
      filter: text(),
      secretSealed: text("secret_sealed"),
      /** Null unless the type lets its owner choose. */
      signature: json<HmacSignature>(),
      tokenHash: text("token_hash").notNull().unique(),
      tokenHint: text("token_hint").notNull(),
      /** Of a provider's webhook, whose address is shown again. */
      tokenSealed: text("token_sealed"),
      /** The webhook of its pipeline's provider: builds take branch and commit from the payload. */
      isProvider: boolean("is_provider").notNull().default(false),
      /** Refused requests are kept with their bodies until then. Null: without. */
      refusedBodiesUntil: time("refused_bodies_until"),
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
    (t) => [
      index("triggers_pipeline").on(t.pipelineId, t.id),
      uniqueIndex("triggers_provider")
        .on(t.pipelineId)
        .where(sql`${t.isProvider} and ${t.deletedAt} is null`),
      index("triggers_environment_key")
        .on(sealingKey(t.environmentSealed), t.id)
        .where(isNotNull(t.environmentSealed)),
      index("triggers_secret_key").on(sealingKey(t.secretSealed), t.id).where(isNotNull(t.secretSealed)),
      index("triggers_token_key").on(sealingKey(t.tokenSealed), t.id).where(isNotNull(t.tokenSealed)),
    ],
  );

  /** The latest misses of a trigger's filter. The row of a changed filter is stale. */
  const filterMisses = table("filter_misses", {
    triggerId: uuid("trigger_id")
      .primaryKey()
      .references(() => triggers.id, { onDelete: "cascade" }),
    filter: text().notNull(),
    /** Misses without an evaluation in time between them. */
    count: integer().notNull(),
    /** The filter is not evaluated before. */
    retryAt: time("retry_at").notNull(),
  });

  /** A webhook answered with 201. `status` is null until a worker decides it. */
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
      /** As its sender names it: `push`. */
      event: text(),
      size: integer().notNull(),
      status: text().$type<DeliveryStatus>(),
      reason: text().$type<DeliveryReason>(),
      /** While it waits: before this time nobody decides it. A worker evaluates its filter, or tries it again then. */
      dueAt: time("enqueued_at").notNull(),
      /** By which workers find it while it waits. */
      organizationId: uuid("organization_id"),
      /** It waits for a thread: for its trigger's filter, or to be read because its event is long. */
      isFiltered: boolean("is_filtered").notNull().default(false),
    },
    (t) => [
      // Lists are filtered by the last two. An index of senders' ids would cost half of an acceptance:
      // their order is random, so that each new one writes a page of its own.
      index("deliveries_trigger").on(t.triggerId, t.id, t.event, t.externalId),
      index("deliveries_status").on(t.triggerId, t.status, t.id),
      index("deliveries_due").on(t.isFiltered, t.organizationId, t.dueAt).where(isNull(t.status)),
    ],
  );

  /** A delivery's decoded bytes, until evicted. */
  const payloads = table(
    "payloads",
    {
      deliveryId: uuid("delivery_id")
        .primaryKey()
        .references(() => deliveries.id, { onDelete: "cascade" }),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      /** The stored size of `body`; the delivery has the received size. */
      size: integer().notNull(),
      headers: json<StoredHeader[]>().notNull(),
      codec: text().$type<PayloadCodec>().notNull().default("identity"),
      body: bytes().notNull(),
    },
    (t) => [index("payloads_organization").on(t.organizationId, t.deliveryId, t.size)],
  );

  /** Stored bytes of an organization's payloads, by the hour of their ids. */
  const payloadTotals = table(
    "payload_totals",
    {
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      hour: time("hour").notNull(),
      bytes: bigint().notNull(),
    },
    (t) => [primaryKey({ columns: [t.organizationId, t.hour] })],
  );

  /** Refused deliveries leave no other record. */
  const refusedDeliveries = table(
    "refused_deliveries",
    {
      triggerId: uuid("trigger_id")
        .notNull()
        .references(() => triggers.id, { onDelete: "cascade" }),
      organizationId: uuid("organization_id").references(() => organizations.id),
      hour: time("hour").notNull(),
      cause: text().$type<RefusalCause>().notNull(),
      count: integer().notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.triggerId, t.hour, t.cause] }),
      index("refused_deliveries_age").on(t.hour),
      index("refused_deliveries_organization").on(t.organizationId, t.hour),
    ],
  );

  /** The latest of each trigger and cause, without secrets, for a day. */
  const refusedRequests = table(
    "refused_requests",
    {
      id: uuid().primaryKey(),
      triggerId: uuid("trigger_id")
        .notNull()
        .references(() => triggers.id, { onDelete: "cascade" }),
      cause: text().$type<RefusalCause>().notNull(),
      receivedAt: time("received_at").notNull(),
      network: text().notNull(),
      headers: json<StoredHeader[]>().notNull(),
      query: text().notNull(),
      /** Null: refused before it was read. */
      size: integer(),
      /** The first 4 KB, if its trigger keeps bodies. */
      body: bytes(),
    },
    (t) => [
      index("refused_requests_cause").on(t.triggerId, t.cause, t.id),
      index("refused_requests_trigger").on(t.triggerId, t.receivedAt, t.id),
      index("refused_requests_age").on(t.receivedAt),
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

  return {
    triggers,
    filterMisses,
    deliveries,
    payloads,
    payloadTotals,
    refusedDeliveries,
    refusedRequests,
    idempotencyKeys,
  };
}

export type TriggersTables = ReturnType<typeof defineTriggersTables>;
