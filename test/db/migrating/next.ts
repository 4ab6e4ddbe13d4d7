import { migrate } from "../../../shared/db/migrate.ts";
import { type Migration, readMigrations, sortStatements } from "../../../shared/db/migrating/migrations.ts";
import { isSqliteUrl } from "../../../shared/db/open.ts";
import { query } from "./catalog.ts";

// Run as a program, this migrates DATABASE_URL with one more migration.

const statements = [
  'ALTER TABLE "settings" ADD COLUMN "note" text',
  'CREATE TABLE "attempts" ("id" text PRIMARY KEY, "task" text)',
  'CREATE INDEX "attempts_task" ON "attempts" ("task")',
  'ALTER TABLE "tasks" ADD COLUMN "attempts" integer',
  'CREATE INDEX "tasks_attempts" ON "tasks" ("attempts", "id")',
];

/** The migrations, and one that adds all that a migration can add. */
export function withNext(url: string): Migration[] {
  const backfill = { table: "tasks", set: `"attempts" = "failures" + 1`, where: `"attempts" IS NULL` };
  return [
    ...readMigrations(isSqliteUrl(url) ? "sqlite" : "postgres"),
    {
      tag: "0001_next",
      when: 9_000_000_000_000,
      hash: "next",
      backfills: [backfill],
      ...sortStatements(statements.join("--> statement-breakpoint\n")),
    },
  ];
}

/** Adds rows as the version before the migration does. */
export async function addTasks(url: string, rows: number, first = 1): Promise<void> {
  const id = isSqliteUrl(url)
    ? "printf('00000000-0000-7000-8000-%012x', n)"
    : "('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid";
  const at = isSqliteUrl(url) ? "1790000000000" : "to_timestamp(1790000000)";
  await query(
    url,
    `INSERT INTO tasks (id, kind, subject_id, organization_id, due_at, failures)
     SELECT ${id}, 'group', ${id}, ${id}, ${at}, n % 7 FROM (
       WITH RECURSIVE series(n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM series WHERE n < ${first + rows - 1})
       SELECT n FROM series) AS numbers`,
  );
}

if (import.meta.main) {
  const url = process.env.DATABASE_URL ?? "";
  await migrate(url, (line) => process.stdout.write(`${line}\n`), withNext(url));
}
