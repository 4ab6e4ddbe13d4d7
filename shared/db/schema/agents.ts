import { isNull, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { AgentState } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { BuildsTables } from "./builds.ts";
import type { ClustersTables } from "./clusters.ts";
import type { QueuesTables } from "./queues.ts";

/**
 * The name without its number. An index has it: correct the generated SQL at its comma, as with `arrivalOf`
 * (schema/builds.ts).
 */
export function patternOf({ namePattern, name }: Record<"namePattern" | "name", SQLiteColumn>): SQL {
  return sql`coalesce(${namePattern}, ${name})`;
}

export function defineAgentsTables(
  kit: Kit,
  {
    organizations,
    users,
    clusters,
    queues,
    jobs,
  }: Pick<AccountsTables, "organizations" | "users"> &
    Pick<ClustersTables, "clusters"> &
    Pick<QueuesTables, "queues"> &
    Pick<BuildsTables, "jobs">,
) {
  const { table, index, primaryKey, uuid, text, integer, bigint, boolean, time, json, bytes } = kit;

  /** Registers agents in a cluster. */
  const agentTokens = table(
    "agent_tokens",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      clusterId: uuid("cluster_id")
        .notNull()
        .references(() => clusters.id),
      /** Null: any queue of the cluster. */
      queueId: uuid("queue_id").references(() => queues.id),
      tokenHash: text("token_hash").notNull().unique(),
      description: text().notNull(),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      expiresAt: time("expires_at"),
      lastUsedAt: time("last_used_at"),
      revokedAt: time("revoked_at"),
    },
    (t) => [
      index("agent_tokens_cluster").on(t.clusterId, t.id),
      index("agent_tokens_list").on(t.clusterId, t.createdAt, t.id).where(isNull(t.revokedAt)),
    ],
  );

  /** A session of an agent: it registers anew with each start. */
  const agents = table(
    "agents",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      clusterId: uuid("cluster_id")
        .notNull()
        .references(() => clusters.id),
      queueId: uuid("queue_id")
        .notNull()
        .references(() => queues.id),
      agentTokenId: uuid("agent_token_id")
        .notNull()
        .references(() => agentTokens.id),
      tokenHash: text("token_hash").notNull().unique(),
      name: text().notNull(),
      /** The name with its `%n`, which is filled with the number. Null: it has none. */
      namePattern: text("name_pattern"),
      nameNumber: integer("name_number"),
      hostname: text().notNull(),
      os: text().notNull(),
      arch: text().notNull(),
      version: text().notNull(),
      build: text().notNull(),
      pid: text(),
      /** Tags, as `key=value`. */
      metaData: json<string[]>("meta_data").notNull(),
      priority: integer(),
      /** Empty: the agent ended, and its description was dropped. */
      ip: text().notNull(),
      userAgent: text("user_agent"),
      /** The agent takes only jobs that it asks for by id, or no further job. */
      ignoreInDispatches: boolean("ignore_in_dispatches").notNull(),
      state: text().$type<AgentState>().notNull(),
      /** The job that it has. */
      jobId: uuid("job_id"),
      /** The job that it had when it was lost. Null once it asks for another: until then it may still run the command. */
      lostJobId: uuid("lost_job_id"),
      /** The job that it was offered last and did not accept in time: others come before it. */
      unacceptedJobId: uuid("unaccepted_job_id"),
      createdAt: time("created_at").notNull(),
      connectedAt: time("connected_at"),
      /** The time of the last heartbeat, or of the return of a lost agent. */
      seenAt: time("seen_at").notNull(),
      lostAt: time("lost_at"),
      disconnectedAt: time("disconnected_at"),
      lastJobFinishedAt: time("last_job_finished_at"),
      stopRequestedAt: time("stop_requested_at"),
      stopRequestedById: uuid("stop_requested_by_id").references(() => users.id),
      pausedAt: time("paused_at"),
      pausedById: uuid("paused_by_id").references(() => users.id),
      pausedNote: text("paused_note"),
      /** Null: until somebody resumes it. */
      pausedUntil: time("paused_until"),
    },
    (t) => [
      index("agents_organization").on(t.organizationId, t.state, t.id),
      index("agents_cluster").on(t.clusterId, t.state, t.id),
      index("agents_queue").on(t.queueId, t.state, t.id),
      // Without those that have a job or are gone: they may be many.
      index("agents_preferred")
        .on(t.queueId, t.priority, t.id)
        .where(sql`${t.priority} is not null and ${t.state} = 'connected' and ${t.jobId} is null`),
      index("agents_named")
        .on(t.organizationId, patternOf(t), t.nameNumber)
        .where(sql`${t.state} <> 'disconnected'`),
      index("agents_seen").on(t.state, t.seenAt),
      // Ended agents whose description is still there.
      index("agents_described")
        .on(t.disconnectedAt)
        .where(sql`${t.disconnectedAt} is not null and ${t.ip} <> ''`),
    ],
  );

  /** The log of one attempt at a job. */
  const jobLogs = table(
    "job_logs",
    {
      jobId: uuid("job_id")
        .notNull()
        .references(() => jobs.id, { onDelete: "cascade" }),
      attempt: integer().notNull(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      createdAt: time("created_at").notNull(),
      /** Bytes of the log: the end of its last chunk. */
      size: bigint().notNull(),
      storedBytes: bigint("stored_bytes").notNull(),
      /** Bytes beyond JOB_LOG_BYTES, which are not kept. */
      droppedBytes: bigint("dropped_bytes").notNull(),
      /** Its bytes are in `log_totals`: from the end of the attempt until its last byte is evicted. */
      isCounted: boolean("is_counted").notNull().default(false),
      evictedAt: time("evicted_at"),
    },
    (t) => [
      primaryKey({ columns: [t.jobId, t.attempt] }),
      // Oldest first, without those that are evicted.
      index("job_logs_counted").on(t.organizationId, t.createdAt).where(sql`${t.isCounted}`),
    ],
  );

  /** A piece of a log. Pieces arrive in any order, and may be repeated. */
  const jobLogChunks = table(
    "job_log_chunks",
    {
      jobId: uuid("job_id")
        .notNull()
        .references(() => jobs.id, { onDelete: "cascade" }),
      attempt: integer().notNull(),
      sequence: integer().notNull(),
      /** The offset of its first byte in the log. */
      start: bigint().notNull(),
      /** Bytes of the log. */
      size: integer().notNull(),
      /** Line feeds in it: they number the lines of a page without reading the pages before it. */
      lines: integer().notNull().default(0),
      /** Gzip. */
      body: bytes().notNull(),
      /** Lines of agents that send no times have this one. Null: stored before it was kept. */
      arrivedAt: time("arrived_at"),
    },
    (t) => [
      primaryKey({ columns: [t.jobId, t.attempt, t.sequence] }),
      // Has all columns that find a page of a log: to skip a body, SQLite reads its pages.
      index("job_log_chunks_start").on(t.jobId, t.attempt, t.start, t.size, t.lines),
    ],
  );

  /** Stored bytes of an organization's logs, by the hour in which they began. */
  const logTotals = table(
    "log_totals",
    {
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      hour: time("hour").notNull(),
      bytes: bigint().notNull(),
    },
    (t) => [primaryKey({ columns: [t.organizationId, t.hour] })],
  );

  return { agentTokens, agents, jobLogs, jobLogChunks, logTotals };
}
