import { and, eq, isNotNull, type Placeholder, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type {
  BuildState,
  CommandStep,
  EntryStanding,
  JobState,
  JobType,
  ManualOptions,
  ManualType,
  Node,
  Notice,
  RetryType,
  StepOptions,
  TriggerOptions,
  WordKind,
} from "../../vocabulary.ts";
import { type Kit, sealingKey } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { PipelinesTables } from "./pipelines.ts";
import type { QueuesTables } from "./queues.ts";
import type { TriggersTables } from "./triggers.ts";

/** Postgres refuses index keys over 2,704 bytes. */
export const indexedCharacters = 100;
/**
 * A literal, because a query must repeat its index's expression. drizzle-kit splits it at commas for SQLite: correct the
 * generated SQL.
 */
export function indexedText(column: SQLiteColumn): SQL {
  return sql`substr(${column}, 1, 100)`;
}

/**
 * Compares a text so that its index helps, which has only the beginnings of texts.
 * @param named stands for the text and its beginning in a prepared query
 */
export function hasText(
  column: SQLiteColumn,
  text: string,
  named: Record<"text" | "beginning", Placeholder | string> = { text, beginning: beginningOf(text) },
): SQL | undefined {
  return and(
    eq(indexedText(column), named.beginning),
    isWhollyIndexed(text) ? undefined : eq(column, named.text),
  );
}

export function beginningOf(text: string): string {
  return [...text].slice(0, indexedCharacters).join("");
}

export function isWhollyIndexed(text: string): boolean {
  return [...text].length < indexedCharacters;
}

/**
 * The place of a scheduled job in the order of its queue. A literal, as above: correct the generated SQL at its comma.
 */
export function arrivalOf({
  arrivedAt,
  scheduledAt,
}: Record<"arrivedAt" | "scheduledAt", SQLiteColumn>): SQL {
  return sql`coalesce(${arrivedAt}, ${scheduledAt})`;
}

/** Settings of a job's step, and its place among the step's jobs. */
export interface JobOptions extends StepOptions {
  parallel?: { index: number; total: number };
  /** The values of its matrix, by dimension. */
  matrix?: Record<string, string>;
  /** The step as it was signed, without the values of the matrix. */
  signed?: Pick<CommandStep, "command" | "env" | "plugins" | "matrix" | "secrets">;
  /** The first job of a group has its notices. */
  group?: { id: string; key?: string; label: string | null; notify?: Notice[] };
  /** For a waiter only. */
  continue_on_failure?: boolean;
  /** For a manual job only. */
  manual?: ManualOptions & { type: ManualType };
  /** For the job of a trigger step only. */
  trigger?: TriggerOptions;
  /** The output of the step that checks of a commit show: jobs of the build set it. */
  check_output?: Record<string, string>;
  /** For a job without a queue only: the key that its step names. Empty: the default queue of the cluster. */
  queue?: string;
}

export interface BuildOptions {
  clean_checkout?: true;
  ignore_pipeline_branch_filters?: true;
  pull_request?: BuildPullRequest;
  merge_queue?: { base_branch: string; base_commit: string };
  tag?: string;
  /** A page of the source host about the change. */
  url?: string;
  /** Strangers wrote what it runs: it gets no secrets, and no rights of people. */
  is_fork?: true;
  triggered_from?: TriggeredFrom;
}

/** A pull request as its host reports it, or as a caller names it. */
export interface BuildPullRequest {
  /** Its number. */
  id: string;
  title?: string;
  /** Its page. */
  url?: string;
  author?: { name?: string; email?: string; username?: string };
  base_branch?: string;
  /** The clone address of the repository that has its branch. */
  repository?: string;
  labels?: string[];
  /** The label that was set or removed just before. */
  label?: string;
  draft?: boolean;
  is_fork?: boolean;
  /** Agents fetch it to get the head, if they would not know by the number. */
  refspec?: string;
}

/** The build whose trigger step made a build. It may be deleted before it. */
export interface TriggeredFrom {
  build_id: string;
  build_number: number;
  build_pipeline_slug: string;
  /** The place of the new build in its chain. The first, which no step made, is 1. */
  depth: number;
  /** Of a step that made several builds. */
  parallel?: { index: number; total: number };
  /** The request's facts are about the other build's commit: by them, agents would check out that commit. */
  of_other_commit?: true;
}

/** A member that has no effect here. */
export interface StepWarning {
  /** The label or key of the step, or its place. Null: the document. */
  step: string | null;
  member: string;
  /** A sentence without its full stop. Absent: the member has no effect here. */
  reason?: string;
  /** Of the last one of a list that was cut: how many others it had. */
  more?: number;
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
  const {
    table,
    index,
    uniqueIndex,
    primaryKey,
    uuid,
    text,
    orderedText,
    integer,
    boolean,
    bigint,
    time,
    json,
  } = kit;

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
      /** Of a delivery that reports several changes: the place of its change. */
      position: integer().notNull().default(0),
      state: text().$type<BuildState>().notNull(),
      message: text().notNull(),
      commit: text().notNull(),
      branch: text().notNull(),
      /** Copied from the trigger. Null: no variables. */
      environmentSealed: text("environment_sealed"),
      source: text().notNull(),
      creatorId: uuid("creator_id").references(() => users.id),
      /** As given with the build. */
      author: json<{ name?: string; email?: string; username?: string }>(),
      /** A copy of its options' one, by which lists find it. */
      pullRequestNumber: integer("pull_request_number"),
      rebuiltFromId: uuid("rebuilt_from_id"),
      /** Given with the build, and read with it only: no list is filtered, sorted or counted by a member. */
      options: json<BuildOptions>(),
      /** The variables of the documents that its jobs uploaded, later ones over earlier ones. Null: none. */
      uploadedEnvironmentSealed: text("uploaded_environment_sealed"),
      /** Its tree is stored: its steps wait for more than the waits before them. */
      hasGraph: boolean("has_graph").notNull().default(false),
      /** Some of its jobs belong to concurrency groups. */
      hasMembers: boolean("has_members").notNull().default(false),
      /** The job of the trigger step that made it. */
      triggeredByJobId: uuid("triggered_by_job_id"),
      /** Of a build that a trigger step made: the first build of its chain. It may be deleted before it. */
      rootBuildId: uuid("root_build_id"),
      /** The schedule that made it, which may be deleted before it, and the time for which. */
      scheduleId: uuid("schedule_id"),
      scheduledFor: time("scheduled_for"),
      /** Whom its documents want to be told of it. Null: nobody. */
      notify: json<Notice[]>(),
      /** News of its jobs are told, since somebody wants to be told of each. */
      tellsOfJobs: boolean("tells_of_jobs").notNull().default(false),
      cancelReason: text("cancel_reason"),
      /** The paused queue of a waiting job (builds/rows/pause-store.ts). */
      pausedQueueId: uuid("paused_queue_id"),
      /** All waiting jobs are on paused queues, as far as fan-outs have come. */
      isPaused: boolean("is_paused").notNull().default(false),
      createdAt: time("created_at").notNull(),
      startedAt: time("started_at"),
      /** Its work (builds/rows/work.ts). Null: nobody measured it from its first start on. */
      workedMs: bigint("worked_ms"),
      /** Some of its jobs run since then, which `workedMs` does not have yet. */
      workingSince: time("working_since"),
      /** A job failed for the first time while others went on. Stays when a retry mends it. */
      failingAt: time("failing_at"),
      finishedAt: time("finished_at"),
    },
    (t) => [
      uniqueIndex("builds_number").on(t.pipelineId, t.number),
      // A repeated background job makes no second build.
      uniqueIndex("builds_delivery_position").on(t.deliveryId, t.rebuild, t.position),
      uniqueIndex("builds_triggered").on(t.triggeredByJobId).where(isNotNull(t.triggeredByJobId)),
      uniqueIndex("builds_schedule").on(t.scheduleId, t.scheduledFor).where(isNotNull(t.scheduleId)),
      index("builds_root").on(t.rootBuildId).where(isNotNull(t.rootBuildId)),
      index("builds_organization").on(t.organizationId, t.id),
      // Filtered lists: compared columns, then order.
      index("builds_organization_state").on(t.organizationId, t.state, t.id),
      index("builds_organization_branch").on(t.organizationId, indexedText(t.branch), t.state, t.id),
      index("builds_organization_commit").on(t.organizationId, indexedText(t.commit), t.state, t.id),
      index("builds_pipeline_state").on(t.pipelineId, t.state, t.number),
      index("builds_pipeline_branch").on(t.pipelineId, indexedText(t.branch), t.state, t.number),
      index("builds_pipeline_commit").on(t.pipelineId, indexedText(t.commit), t.state, t.number),
      index("builds_pipeline_request")
        .on(t.pipelineId, t.pullRequestNumber, t.number)
        .where(isNotNull(t.pullRequestNumber)),
      // Most builds are of webhooks, and have no creator.
      index("builds_organization_creator")
        .on(t.organizationId, t.creatorId, t.id)
        .where(isNotNull(t.creatorId)),
      index("builds_pipeline_creator").on(t.pipelineId, t.creatorId, t.number).where(isNotNull(t.creatorId)),
      index("builds_sealing_key")
        .on(sealingKey(t.environmentSealed), t.id)
        .where(isNotNull(t.environmentSealed)),
      index("builds_uploaded_sealing_key")
        .on(sealingKey(t.uploadedEnvironmentSealed), t.id)
        .where(isNotNull(t.uploadedEnvironmentSealed)),
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
      type: text().$type<JobType>().notNull().default("script"),
      /** Null: a waiter. */
      queueId: uuid("queue_id").references(() => queues.id),
      /** The id of the step's first job, which its parallel and retried jobs share. */
      stepId: uuid("step_id").notNull(),
      /** In the order of the steps. A retried job has its predecessor's. */
      position: integer().notNull(),
      /** Read through builds/rows/job-store.ts: parallel and retried jobs have the text of the first one of their step. */
      ownLabel: text("label"),
      /** Null: that of the step's first job, or none. */
      ownCommand: text("command"),
      ownOptions: json<JobOptions>("options"),
      state: text().$type<JobState>().notNull(),
      /** 32 bits. Most programs read them as signed numbers, Windows and its programs as unsigned ones. */
      exitStatus: bigint("exit_status"),
      signal: text(),
      signalReason: text("signal_reason"),
      /** Why the server ended the job, for people. */
      failureReason: text("failure_reason"),
      softFailed: boolean("soft_failed").notNull().default(false),
      /** Of a broken job: `conditional_failed`, `branch_mismatch`, or a reason of its author. */
      brokenReason: text("broken_reason"),
      priority: integer().notNull().default(0),
      /** The rules that its agent must fulfil, as canonical JSON (shared/pipelines/agent-rules.ts). Empty: none. */
      agentRules: text("agent_rules").notNull().default(""),
      /** The pause of its queue, while it waits (builds/rows/pause-store.ts). */
      dispatchPausedAt: time("dispatch_paused_at"),
      /** The agent that has, or last had, the job. */
      agentId: uuid("agent_id"),
      /** The stack that has, or last had, it reserved, or ended it. It may be gone. */
      stackId: uuid("stack_id"),
      /** The end of that reservation. */
      reservedUntil: time("reserved_until"),
      /** Accepts of the job so far. */
      attempt: integer().notNull().default(0),
      retryOfJobId: uuid("retry_of_job_id"),
      retriedInJobId: uuid("retried_in_job_id"),
      /** The user who retried it. Null: its step's rules did. */
      retriedById: uuid("retried_by_id"),
      retryType: text("retry_type").$type<RetryType>(),
      retriesCount: integer("retries_count").notNull().default(0),
      createdAt: time("created_at").notNull(),
      /** Of an uploaded job: its place in the order of its queue, which the job that uploaded it had. Null: `scheduledAt`. */
      arrivedAt: time("arrived_at"),
      /** It waits for its concurrency group alone since then. Null: it has none, or waits for other jobs. */
      limitedAt: time("limited_at"),
      /** Null: it waits for others. */
      scheduledAt: time("scheduled_at"),
      assignedAt: time("assigned_at"),
      acceptedAt: time("accepted_at"),
      startedAt: time("started_at"),
      finishedAt: time("finished_at"),
      /** Only while it runs. */
      timesOutAt: time("times_out_at"),
      /** Only while it is being canceled by force: it is canceled then, whatever its agent does. */
      endsAt: time("ends_at"),
      /** The exit status that its agent expected while it ran. */
      promisedExitStatus: bigint("promised_exit_status"),
      promisedAt: time("promised_at"),
      /** Of a manual job: all that it waits for has ended, so that somebody can unblock it. */
      unblockable: boolean().notNull().default(false),
      unblockedAt: time("unblocked_at"),
      unblockedById: uuid("unblocked_by_id"),
    },
    (t) => [
      index("jobs_build").on(t.buildId, t.state, t.position),
      index("jobs_queue").on(t.queueId, t.state, t.id),
      index("jobs_paused").on(t.queueId, t.id).where(isNotNull(t.dispatchPausedAt)),
      // Fan-outs find jobs by their mark.
      index("jobs_mark").on(t.queueId, t.dispatchPausedAt, t.id).where(sql`${t.state} = 'scheduled'`),
      // Hand-outs find the first job for each kind of agent.
      index("jobs_waiting")
        .on(t.queueId, t.agentRules, sql`${t.priority} desc`, arrivalOf(t), t.id)
        .where(sql`${t.state} = 'scheduled'`),
      // Stacks list them.
      index("jobs_scheduled").on(t.queueId, t.scheduledAt, t.id).where(sql`${t.state} = 'scheduled'`),
      index("jobs_reserved").on(t.reservedUntil).where(sql`${t.state} = 'reserved'`),
      index("jobs_reserved_by").on(t.stackId, t.id).where(sql`${t.state} = 'reserved'`),
      // Offered, and not accepted.
      index("jobs_offered").on(t.assignedAt).where(sql`${t.state} = 'assigned' and ${t.acceptedAt} is null`),
      index("jobs_times_out").on(t.timesOutAt).where(isNotNull(t.timesOutAt)),
      index("jobs_ends").on(t.endsAt).where(isNotNull(t.endsAt)),
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
      /** Null: a token for reading by hand. */
      attempt: integer(),
      readOnly: boolean("read_only").notNull(),
      createdAt: time("created_at").notNull(),
      expiresAt: time("expires_at").notNull(),
    },
    (t) => [index("job_tokens_job").on(t.jobId), index("job_tokens_expiry").on(t.expiresAt)],
  );

  /** Steps that a job added to its build. The id is the agent's: a repeated upload changes nothing. */
  const pipelineUploads = table(
    "pipeline_uploads",
    {
      jobId: uuid("job_id")
        .notNull()
        .references(() => jobs.id, { onDelete: "cascade" }),
      id: uuid().notNull(),
      createdAt: time("created_at").notNull(),
      /** Of an upload: the jobs that it made. Null: it is an update of a step. */
      jobsMade: integer("jobs_made"),
      /** It took away the steps that had not started. */
      isReplacing: boolean("is_replacing").notNull().default(false),
    },
    (t) => [primaryKey({ columns: [t.jobId, t.id] })],
  );

  /** The order of a build's steps, and their members that have no effect. */
  const buildGraphs = table("build_graphs", {
    buildId: uuid("build_id")
      .primaryKey()
      .references(() => builds.id, { onDelete: "cascade" }),
    /** Null: its steps wait for the waits before them. */
    tree: json<Node[]>(),
    warnings: json<StepWarning[]>(),
  });

  /** Jobs of an organization that share a limit, over all pipelines. */
  const concurrencyGroups = table(
    "concurrency_groups",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      name: text().notNull(),
      createdAt: time("created_at").notNull(),
      /** The place of the last build that it let in. Null: none yet. */
      reachedAt: time("reached_at"),
      reachedBuildId: uuid("reached_build_id"),
    },
    (t) => [uniqueIndex("concurrency_groups_name").on(t.organizationId, t.name)],
  );

  /** Jobs that count in their concurrency group: unfinished ones that are not behind a manual step. */
  const concurrencyMembers = table(
    "concurrency_members",
    {
      jobId: uuid("job_id")
        .primaryKey()
        .references(() => jobs.id, { onDelete: "cascade" }),
      groupId: uuid("group_id")
        .notNull()
        .references(() => concurrencyGroups.id),
      buildId: uuid("build_id").notNull(),
      standing: text().$type<EntryStanding>().notNull(),
      limit: integer("max_holders").notNull(),
      isEager: boolean("is_eager").notNull(),
      priority: integer().notNull(),
      /** Its place in the group: the time at which its build, or the job that uploaded it, was created. */
      orderedAt: time("ordered_at").notNull(),
      position: integer().notNull(),
    },
    (t) => [
      index("concurrency_members_place").on(
        ...[t.groupId, t.standing, t.orderedAt, t.buildId, t.position, t.jobId],
      ),
      index("concurrency_members_limit").on(t.groupId, t.limit),
      // Jobs of a group may have limits of their own: each has its list.
      index("concurrency_members_eager_place")
        .on(t.groupId, t.limit, sql`${t.priority} desc`, t.orderedAt, t.buildId, t.position, t.jobId)
        .where(sql`${t.standing} = 'limited' and ${t.isEager}`),
      index("concurrency_members_build").on(t.buildId),
    ],
  );

  /**
   * Words by which a search finds builds and deliveries (shared/words). The subject may be gone: another index would
   * double the size of the table. On SQLite it has no rowid: correct the generated SQL.
   */
  const searchWords = table(
    "search_words",
    {
      organizationId: uuid("organization_id").notNull(),
      kind: text().$type<WordKind>().notNull(),
      word: orderedText().notNull(),
      subjectId: uuid("subject_id").notNull(),
    },
    (t) => [primaryKey({ columns: [t.organizationId, t.kind, t.word, t.subjectId] })],
  );

  return {
    searchWords,
    builds,
    jobs,
    metaData,
    jobTokens,
    pipelineUploads,
    buildGraphs,
    concurrencyGroups,
    concurrencyMembers,
  };
}

export type BuildsTables = ReturnType<typeof defineBuildsTables>;
