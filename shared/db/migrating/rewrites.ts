/** A table that SQLite writes anew, because ALTER TABLE cannot make the change. */
export interface Rewrite {
  table: string;
  /** The new table's columns that come from the old one: SQL of a row, by its name. */
  columns(row: string): Record<string, string>;
}

const same = (names: string[], row: string) =>
  Object.fromEntries(names.map((name) => [name, `${row}."${name}"`]));

/** Replaces the migration's `INSERT INTO __new_… SELECT`. */
export const rewrites: Record<string, Rewrite> = {
  "0011_agents": {
    table: "jobs",
    columns: (row) => ({
      ...same(["id", "build_id", "queue_id", "label", "command", "state", "exit_status"], row),
      ...same(["dispatch_paused_at", "created_at", "assigned_at", "started_at", "finished_at"], row),
      step_id: `${row}."id"`,
      position: `(SELECT count(*) FROM "jobs" AS "earlier"
        WHERE "earlier"."build_id" = ${row}."build_id" AND "earlier"."id" < ${row}."id")`,
      scheduled_at: `${row}."created_at"`,
    }),
  },
};
