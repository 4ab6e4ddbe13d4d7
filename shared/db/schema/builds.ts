import { isNotNull, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { BuildState, JobState } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { PipelinesTables } from "./pipelines.ts";
import type { QueuesTables } from "./queues.ts";
import { sealingKey } from "./sealing-key.ts";
import type { TriggersTables } from "./triggers.ts";

/** Postgres refuses index keys over 2,704 bytes. */
export const indexedCharacters = 100;
/**
 * A literal, because a query must repeat its index's expression. drizzle-kit splits it at commas for SQLite: mend the
 * generated SQL.
 */
export function indexedText(column: SQLiteColumn): SQL {
  return sql`substr(${column}, 1, 100)`;
}

export function defineBuildsTables(
  kit: Kit,
  {
    organizations,
    users,
    queues,
    pipelines,
    deliveries,
  }: Pick<AccountsTables, "organizations" | "users"> &
    Pick<QueuesTables, "queues"> &
    Pick<PipelinesTables, "pipelines"> &
    Pick<TriggersTables, "deliveries">,
) {
  const { table, index, uniqueIndex, primaryKey, uuid, text, integer, boolean, time, json } = kit;

  const builds = table(
    "builds",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      pipelineId: uuid("pipeline_id")
        .notNull()
        .references(() => pipelines.id),
      number: integer().notNull(),
      deliveryId: uuid("delivery_id").references(() => deliveries.id, { onDelete: "set null" }),
      /** 0: built by the background job; 1, 2, …: rebuilt by hand. */
      rebuild: integer().notNull().default(0),
      state: text().$type<BuildState>().notNull(),
      message: text().notNull(),
      commit: text().notNull(),
      branch: text().notNull(),
      /** In clear, of builds from before `environmentSealed`. Empty since. */
      environment: json<Record<string, string>>().notNull(),
      /** Copied from the trigger. Null: no variables. */
      environmentSealed: text("environment_sealed"),
      source: text().notNull(),
      creatorId: uuid("creator_id").references(() => users.id),
      /** Of a waiting job. Set by the fan-out. */
      pausedQueueId: uuid("paused_queue_id"),
      /** All waiting jobs are on paused queues, as far as fan-out has come. */
      isPaused: boolean("is_paused").notNull().default(false),
      createdAt: time("created_at").notNull(),
      startedAt: time("started_at"),
      finishedAt: time("finished_at"),
    },
    (t) => [
      uniqueIndex("builds_number").on(t.pipelineId, t.number),
      // A repeated background job makes no second build.
      uniqueIndex("builds_delivery").on(t.deliveryId, t.rebuild),
      index("builds_organization").on(t.organizationId, t.id),
      // Filtered lists: compared columns, then order.
      index("builds_organization_state").on(t.organizationId, t.state, t.id),
      index("builds_organization_branch").on(t.organizationId, indexedText(t.branch), t.state, t.id),
      index("builds_organization_commit").on(t.organizationId, indexedText(t.commit), t.state, t.id),
      index("builds_pipeline_state").on(t.pipelineId, t.state, t.number),
      index("builds_pipeline_branch").on(t.pipelineId, indexedText(t.branch), t.state, t.number),
      index("builds_pipeline_commit").on(t.pipelineId, indexedText(t.commit), t.state, t.number),
      index("builds_sealing_key")
        .on(sealingKey(t.environmentSealed), t.id)
        .where(isNotNull(t.environmentSealed)),
      index("builds_finished").on(t.finishedAt).where(isNotNull(t.finishedAt)),
    ],
  );

  const jobs = table(
    "jobs",
    {
      id: uuid().primaryKey(),
      buildId: uuid("build_id")
        .notNull()
        .references(() => builds.id, { onDelete: "cascade" }),
      queueId: uuid("queue_id")
        .notNull()
        .references(() => queues.id),
      label: text(),
      command: text().notNull(),
      state: text().$type<JobState>().notNull(),
      exitStatus: integer("exit_status"),
      /** Set by the fan-out. */
      dispatchPausedAt: time("dispatch_paused_at"),
      createdAt: time("created_at").notNull(),
      assignedAt: time("assigned_at"),
      startedAt: time("started_at"),
      finishedAt: time("finished_at"),
    },
    (t) => [
      index("jobs_build").on(t.buildId),
      index("jobs_queue").on(t.queueId, t.state, t.id),
      index("jobs_paused").on(t.queueId, t.id).where(isNotNull(t.dispatchPausedAt)),
    ],
  );

  const metaData = table(
    "meta_data",
    {
      buildId: uuid("build_id")
        .notNull()
        .references(() => builds.id, { onDelete: "cascade" }),
      key: text().notNull(),
      value: text().notNull(),
    },
    (t) => [primaryKey({ columns: [t.buildId, t.key] })],
  );

  const jobTokens = table(
    "job_tokens",
    {
      tokenHash: text("token_hash").primaryKey(),
      jobId: uuid("job_id")
        .notNull()
        .references(() => jobs.id, { onDelete: "cascade" }),
      readOnly: boolean("read_only").notNull(),
      createdAt: time("created_at").notNull(),
      expiresAt: time("expires_at").notNull(),
    },
    (t) => [index("job_tokens_job").on(t.jobId), index("job_tokens_expiry").on(t.expiresAt)],
  );

  return { builds, jobs, metaData, jobTokens };
}

export type BuildsTables = ReturnType<typeof defineBuildsTables>;
