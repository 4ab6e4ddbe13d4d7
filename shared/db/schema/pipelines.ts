import { isNotNull, isNull } from "drizzle-orm";
import type { Notice, Step } from "../../vocabulary.ts";
import { type Kit, sealingKey } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { ClustersTables } from "./clusters.ts";

export interface PipelineDocument {
  /** Variables of its jobs, as if the first of them had uploaded the document. */
  env?: Record<string, string>;
  /** The notices of its builds. */
  notify?: Notice[];
  /** Members that have no effect here. Text: the name of one, without a reason. */
  ineffective?: (string | { member: string; reason?: string })[];
}

export function definePipelinesTables(
  kit: Kit,
  {
    users,
    organizations,
    members,
    clusters,
  }: Pick<AccountsTables, "users" | "organizations" | "members"> & Pick<ClustersTables, "clusters">,
) {
  const { table, index, uniqueIndex, primaryKey, foreignKey, uuid, text, integer, boolean, time, json } = kit;

  const pipelines = table(
    "pipelines",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      clusterId: uuid("cluster_id")
        .notNull()
        .references(() => clusters.id),
      slug: text().notNull(),
      name: text().notNull(),
      description: text(),
      defaultBranch: text("default_branch").notNull(),
      /** An address that agents clone. Null: none. */
      repository: text(),
      /** Null: no variables. */
      environmentSealed: text("environment_sealed"),
      steps: json<Step[]>().notNull(),
      /** The YAML that the steps were made of, as it was written. Null: they were given as they are. */
      configuration: text(),
      /** All that the configuration says beside its steps. Null: nothing. */
      document: json<PipelineDocument>(),
      /** Patterns of branches. Others are not built. Null: all are. */
      branchConfiguration: text("branch_configuration"),
      /** A new build of a branch skips those that have not started. */
      skipQueuedBranchBuilds: boolean("skip_queued_branch_builds").notNull().default(false),
      /** Patterns of the branches on which it does. Null: all. */
      skipQueuedBranchBuildsFilter: text("skip_queued_branch_builds_filter"),
      /** A new build of a branch cancels those that run. */
      cancelRunningBranchBuilds: boolean("cancel_running_branch_builds").notNull().default(false),
      cancelRunningBranchBuildsFilter: text("cancel_running_branch_builds_filter"),
      /** Of steps without a time-out of their own. Null: none. */
      defaultTimeoutInMinutes: integer("default_timeout_in_minutes"),
      /** No step has a longer one. Null: no limit. */
      maximumTimeoutInMinutes: integer("maximum_timeout_in_minutes"),
      /** Settings of its repository's provider that are not at their default (shared/sources/settings.ts). */
      providerSettings: json<Record<string, boolean | string>>("provider_settings"),
      /** False: builds cannot be built again. */
      allowRebuilds: boolean("allow_rebuilds").notNull().default(true),
      /** An address that agents clone in place of the repository. Null: none. */
      cloneMirrorUrl: text("clone_mirror_url"),
      /** Words for people. Null: none. */
      tags: json<string[]>(),
      emoji: text(),
      color: text(),
      lastBuildNumber: integer("last_build_number").notNull(),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      /** It makes no builds. */
      archivedAt: time("archived_at"),
      /** The row stays until its builds are purged. */
      deletedAt: time("deleted_at"),
    },
    (t) => [
      uniqueIndex("pipelines_slug").on(t.organizationId, t.slug).where(isNull(t.deletedAt)),
      index("pipelines_list").on(t.organizationId, t.createdAt, t.id).where(isNull(t.deletedAt)),
      index("pipelines_deleted").on(t.organizationId).where(isNotNull(t.deletedAt)),
      // Nothing bounds their number: the purge of their builds reads some at a time.
      index("pipelines_deleted_ids").on(t.id).where(isNotNull(t.deletedAt)),
      index("pipelines_cluster").on(t.clusterId),
      index("pipelines_environment_key")
        .on(sealingKey(t.environmentSealed), t.id)
        .where(isNotNull(t.environmentSealed)),
    ],
  );

  /** Pipelines that a member sees first. */
  const stars = table(
    "stars",
    {
      organizationId: uuid("organization_id").notNull(),
      userId: uuid("user_id").notNull(),
      pipelineId: uuid("pipeline_id")
        .notNull()
        .references(() => pipelines.id),
      createdAt: time("created_at").notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.organizationId, t.userId, t.pipelineId] }),
      foreignKey({
        name: "stars_member",
        columns: [t.organizationId, t.userId],
        foreignColumns: [members.organizationId, members.userId],
      }).onDelete("cascade"),
      index("stars_pipeline").on(t.pipelineId),
    ],
  );

  return { pipelines, stars };
}

export type PipelinesTables = ReturnType<typeof definePipelinesTables>;
