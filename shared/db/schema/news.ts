import { isNotNull, sql } from "drizzle-orm";
import type {
  MessageKindName,
  MessageState,
  NewsEvent,
  ServiceProvider,
  ServiceScope,
} from "../../vocabulary.ts";
import { type Kit, sealingKey } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";

/** The request that was sent last, without its headers: some are secret. */
export interface SentRequest {
  method: string;
  host: string;
  /** Of its body. */
  bytes: number;
  /** Its beginning, for those who may see it. */
  body?: string;
}

/** Rows of news and messages name others without foreign keys, so that writing them locks nothing. */
export function defineNewsTables(
  kit: Kit,
  { organizations, users }: Pick<AccountsTables, "organizations" | "users">,
) {
  const { table, index, uniqueIndex, primaryKey, uuid, text, integer, boolean, time, json } = kit;

  /** Changes that somebody hears of. The transaction that makes messages of them deletes them. */
  const news = table(
    "news",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id").notNull(),
      event: text().$type<NewsEvent>().notNull(),
      /** Also of the news of a job. */
      buildId: uuid("build_id"),
      jobId: uuid("job_id"),
      agentId: uuid("agent_id"),
      createdAt: time("created_at").notNull(),
    },
    (t) => [index("news_order").on(t.organizationId, t.id)],
  );

  /** Messages to the world outside. What is sent is made of the present rows at the time of sending. */
  const outbox = table(
    "outbox",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id").notNull(),
      kind: text().$type<MessageKindName>().notNull(),
      /** Its messages are sent in order, and rest together when it fails. */
      receiver: text().notNull(),
      serviceId: uuid("service_id"),
      connectionId: uuid("connection_id"),
      buildId: uuid("build_id"),
      jobId: uuid("job_id"),
      agentId: uuid("agent_id"),
      event: text().notNull(),
      /** Of a message about a present state: the receiver has one such message waiting. Null: each is sent. */
      topic: text(),
      /** Facts that its kind needs and no row has. There may be a secret among them, such as the address of a chat. */
      target: json<unknown>(),
      state: text().$type<MessageState>().notNull().default("waiting"),
      /** Counts later news that moved the waiting message on: a request that was sent meanwhile may be outdated. */
      revision: integer().notNull().default(0),
      /** Tries that failed. */
      tries: integer().notNull().default(0),
      /** Before it the message rests. */
      dueAt: time("due_at").notNull(),
      createdAt: time("created_at").notNull(),
      endedAt: time("ended_at"),
      /** Of the last try. Null: there was no answer. */
      answerStatus: integer("answer_status"),
      /** The beginning of the last answer, or why there was none. */
      answer: text(),
      durationMs: integer("duration_ms"),
      request: json<SentRequest>(),
    },
    (t) => [
      index("outbox_due").on(t.organizationId, t.receiver, t.dueAt, t.id).where(sql`${t.state} = 'waiting'`),
      uniqueIndex("outbox_topic")
        .on(t.organizationId, t.receiver, t.topic)
        .where(sql`${t.state} = 'waiting' and ${t.topic} is not null`),
      index("outbox_waiting").on(t.organizationId, t.id).where(sql`${t.state} = 'waiting'`),
      index("outbox_failed").on(t.organizationId, t.id).where(sql`${t.state} = 'failed'`),
      // Measures of the installation.
      index("outbox_age").on(t.kind, t.createdAt).where(sql`${t.state} = 'waiting'`),
      index("outbox_service").on(t.serviceId, t.id).where(isNotNull(t.serviceId)),
      index("outbox_build").on(t.buildId, t.id).where(isNotNull(t.buildId)),
      index("outbox_ended").on(t.endedAt).where(isNotNull(t.endedAt)),
    ],
  );

  /** Receivers that have messages waiting. */
  const outboxReceivers = table(
    "outbox_receivers",
    {
      organizationId: uuid("organization_id").notNull(),
      receiver: text().notNull(),
      /** Before it nothing is sent to the receiver: it failed, or its messages rest. */
      dueAt: time("due_at").notNull(),
      /** A process sends to it until then. Null: none. */
      takenUntil: time("taken_until"),
      /** Tries that failed since the last that did not. */
      failures: integer().notNull().default(0),
      failingSince: time("failing_since"),
      problem: text(),
    },
    (t) => [
      primaryKey({ columns: [t.organizationId, t.receiver] }),
      index("outbox_receivers_due").on(t.organizationId, t.dueAt),
      index("outbox_receivers_failing").on(t.organizationId, t.failingSince).where(isNotNull(t.failingSince)),
    ],
  );

  /** Whom an organization tells of its builds, jobs and agents. */
  const notificationServices = table(
    "notification_services",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      provider: text().$type<ServiceProvider>().notNull(),
      description: text().notNull(),
      enabled: boolean().notNull().default(true),
      scope: text().$type<ServiceScope>().notNull().default("all"),
      /** Pipelines or clusters, as the scope says. */
      scopeIds: json<string[]>("scope_ids"),
      /** Patterns of branches. Null: all. */
      branchConfiguration: text("branch_configuration"),
      /** Null: all. */
      buildStates: json<string[]>("build_states"),
      /** Null: all. */
      events: json<string[]>(),
      /** Members of its provider, without its secret. */
      settings: json<Record<string, unknown>>(),
      /** Its token, or the address of its chat. */
      secretSealed: text("secret_sealed"),
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
      index("notification_services_list").on(t.organizationId, t.id),
      index("notification_services_key")
        .on(sealingKey(t.secretSealed), t.id)
        .where(isNotNull(t.secretSealed)),
    ],
  );

  return { news, outbox, outboxReceivers, notificationServices };
}
