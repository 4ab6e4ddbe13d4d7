import type { AnnotationScope, AnnotationStyle } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";
import type { BuildsTables } from "./builds.ts";

export function defineAnnotationsTables(kit: Kit, { builds, jobs }: Pick<BuildsTables, "builds" | "jobs">) {
  const { table, index, uniqueIndex, uuid, text, integer, time } = kit;

  /** Texts by which jobs tell the readers of a build something. */
  const annotations = table(
    "annotations",
    {
      id: uuid().primaryKey(),
      buildId: uuid("build_id")
        .notNull()
        .references(() => builds.id, { onDelete: "cascade" }),
      /** Of scope `job` only. */
      jobId: uuid("job_id").references(() => jobs.id, { onDelete: "cascade" }),
      scope: text().$type<AnnotationScope>().notNull(),
      /** The id of the build or job in which its context is unique. */
      scopeId: uuid("scope_id").notNull(),
      context: text().notNull(),
      /** Null: plain. */
      style: text().$type<AnnotationStyle>(),
      priority: integer().notNull(),
      createdAt: time("created_at").notNull(),
      updatedAt: time("updated_at").notNull(),
      // Last: SQLite walks through large values to those after them.
      /** Markdown, as its author wrote it. */
      body: text().notNull(),
      /** The body as safe HTML. Null: nobody has rendered it yet. */
      html: text(),
    },
    (t) => [
      uniqueIndex("annotations_context").on(t.scopeId, t.context),
      index("annotations_build").on(t.buildId, t.id),
      index("annotations_job").on(t.jobId),
    ],
  );

  return { annotations };
}
