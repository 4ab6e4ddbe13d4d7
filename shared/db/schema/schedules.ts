import { isNotNull } from "drizzle-orm";
import { type Kit, sealingKey } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { PipelinesTables } from "./pipelines.ts";

export function defineSchedulesTables(
  kit: Kit,
  {
    organizations,
    users,
    pipelines,
  }: Pick<AccountsTables, "organizations" | "users"> & Pick<PipelinesTables, "pipelines">,
) {
  const { table, index, uuid, text, boolean, time } = kit;

  /** Times at which a pipeline builds. */
  const schedules = table(
    "schedules",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      pipelineId: uuid("pipeline_id")
        .notNull()
        .references(() => pipelines.id, { onDelete: "cascade" }),
      label: text(),
      /** As shared/schedules/cronline.ts reads it. */
      cronline: text().notNull(),
      /** Null: one that names the schedule. */
      message: text(),
      commit: text().notNull().default("HEAD"),
      /** Null: the pipeline's default branch. */
      branch: text(),
      environmentSealed: text("environment_sealed"),
      enabled: boolean().notNull().default(true),
      /** Null: none, as it is disabled. */
      nextBuildAt: time("next_build_at"),
      /** Of the last time, if it made no build. */
      failedAt: time("failed_at"),
      failedMessage: text("failed_message"),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
    },
    (t) => [
      index("schedules_pipeline").on(t.pipelineId, t.id),
      // Workers find what is due, by organization.
      index("schedules_due").on(t.organizationId, t.nextBuildAt).where(isNotNull(t.nextBuildAt)),
      index("schedules_environment_key")
        .on(sealingKey(t.environmentSealed), t.id)
        .where(isNotNull(t.environmentSealed)),
    ],
  );

  return { schedules };
}
