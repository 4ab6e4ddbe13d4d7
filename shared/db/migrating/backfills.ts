/** Gives rows of a table their values in batches, instead of the migration's UPDATE of all rows. */
export interface Backfill {
  table: string;
  /** Columns of an UPDATE. */
  set: string;
  /** Rows that have no values yet. */
  where: string;
  /** Columns that become NOT NULL: no row may be left. */
  required?: string[];
}

/**
 * Replaces the UPDATE of the migration on this table. An UPDATE without one runs as it is, beside locks: that is right
 * for a small table only.
 */
export const backfills: Record<string, Backfill[]> = {
  "0004_lists": [
    {
      table: "builds",
      set: `"is_paused" = true`,
      where: `"paused_queue_id" IS NOT NULL AND "is_paused" = false AND NOT EXISTS (SELECT 1 FROM "jobs"
        WHERE "jobs"."build_id" = "builds"."id" AND "jobs"."state" = 'scheduled' AND "jobs"."dispatch_paused_at" IS NULL)`,
    },
  ],
  "0011_agents": [
    {
      table: "jobs",
      set: `"step_id" = "id", "scheduled_at" = "created_at", "position" = (SELECT count(*) FROM "jobs" AS "earlier"
        WHERE "earlier"."build_id" = "jobs"."build_id" AND "earlier"."id" < "jobs"."id")`,
      where: `"step_id" IS NULL`,
      required: ["step_id", "position"],
    },
  ],
};

/** Tables whose UPDATE in a migration runs as it is, because they have few rows. */
export const updatedAtOnce = new Set(["clusters"]);
