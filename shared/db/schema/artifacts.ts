import { sql } from "drizzle-orm";
import type { ArtifactState } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { BuildsTables } from "./builds.ts";

export function defineArtifactsTables(
  kit: Kit,
  {
    organizations,
    builds,
    jobs,
  }: Pick<AccountsTables, "organizations"> & Pick<BuildsTables, "builds" | "jobs">,
) {
  const { table, index, uniqueIndex, primaryKey, uuid, text, integer, bigint, boolean, time } = kit;

  /** Files that jobs left. Their bytes are in the blob store, under the id of the row. */
  const artifacts = table(
    "artifacts",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      buildId: uuid("build_id")
        .notNull()
        .references(() => builds.id, { onDelete: "cascade" }),
      jobId: uuid("job_id")
        .notNull()
        .references(() => jobs.id, { onDelete: "cascade" }),
      /** The agent's id of the request that announced it, and the place there: a repeated request announces nothing. */
      batchId: uuid("batch_id").notNull(),
      position: integer().notNull(),
      path: text().notNull(),
      absolutePath: text("absolute_path").notNull(),
      globPath: text("glob_path"),
      size: bigint().notNull(),
      /** Lower-case hex. */
      sha1: text().notNull(),
      sha256: text(),
      contentType: text("content_type").notNull(),
      /** The agent uploads it there by itself. Null: here. */
      uploadDestination: text("upload_destination"),
      /** Its address at the upload destination. */
      url: text(),
      state: text().$type<ArtifactState>().notNull(),
      /** The blob store's name of an upload in parts, while it goes on. */
      uploadId: text("upload_id"),
      createdAt: time("created_at").notNull(),
      /** The blob store has its bytes, and they were checked. */
      storedAt: time("stored_at"),
      finishedAt: time("finished_at"),
      /** Its bytes are in `artifact_totals`: from its announcement on, until nobody needs them. */
      isCounted: boolean("is_counted").notNull().default(false),
    },
    (t) => [
      uniqueIndex("artifacts_batch").on(t.jobId, t.batchId, t.position),
      index("artifacts_build").on(t.buildId, t.id),
      index("artifacts_job").on(t.jobId, t.id),
      // Oldest first, without those whose bytes are gone.
      index("artifacts_counted").on(t.organizationId, t.createdAt).where(sql`${t.isCounted}`),
      index("artifacts_open").on(t.createdAt).where(sql`${t.state} = 'new'`),
    ],
  );

  /** Stored bytes of an organization's artifacts, by the hour in which they were announced. */
  const artifactTotals = table(
    "artifact_totals",
    {
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      hour: time("hour").notNull(),
      bytes: bigint().notNull(),
    },
    (t) => [primaryKey({ columns: [t.organizationId, t.hour] })],
  );

  return { artifacts, artifactTotals };
}
