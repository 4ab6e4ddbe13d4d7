import { MigrationFailed } from "./failed.ts";
import { type Backfill, type Migration, migrationsTable } from "./migrations.ts";
import { insertApplied, newestOf, type Report, readApplied, type Target } from "./target.ts";

// A database of the last version before 1.0.0 becomes one of 1.0.0: its rows get their new form, what nothing uses is
// dropped, and the initial migration takes the place of the migrations that made the database. Processes are stopped
// meanwhile.

/** The last version before 1.0.0, as a commit. */
export const versionBefore = "bb566745";
/** The last migration of that version, by its time. */
const lastBefore = { sqlite: 1795800512111, postgres: 1795800512820 };
const command = "npm run -s admin -- secrets reseal";

const sealedColumns = {
  pipelines: ["environment_sealed"],
  triggers: ["environment_sealed", "secret_sealed"],
  builds: ["environment_sealed", "uploaded_environment_sealed"],
  secrets: ["value_sealed"],
  signing_keys: ["private_key_sealed"],
};

const rewritten: Backfill[] = [
  {
    table: "jobs",
    set: `"command" = NULL`,
    where: `"command" = 'echo This job needs a newer version of the server && exit 1' AND "id" <> "step_id"`,
  },
  {
    table: "deliveries",
    set: `"organization_id" = (SELECT pipelines.organization_id FROM triggers JOIN pipelines ON pipelines.id = triggers.pipeline_id
        WHERE triggers.id = deliveries.trigger_id),
      "is_filtered" = (SELECT triggers.filter IS NOT NULL FROM triggers WHERE triggers.id = deliveries.trigger_id)`,
    where: `"status" IS NULL AND "organization_id" IS NULL`,
  },
];

const task = "INSERT INTO tasks (id, kind, subject_id, organization_id, due_at)";
const now = {
  sqlite: "cast(unixepoch('subsec') * 1000 AS integer)",
  postgres: "date_trunc('milliseconds', clock_timestamp())",
};

/** @throws MigrationFailed if an older version made the database, or it has secrets of the first form */
export async function adopt(target: Target, migrations: Migration[], report: Report): Promise<void> {
  const [initial] = migrations;
  const newest = newestOf(await readApplied(target));
  if (!initial || newest === 0 || newest >= initial.when) return;
  if (newest !== lastBefore[target.dialect])
    throw new MigrationFailed(
      `The database is of a version before 1.0.0. Check out ${versionBefore}, run npm run migrate and ${command} there, then run this again.`,
    );
  await requireSecondForm(target);
  report("The database is of the version before 1.0.0: its rows get their new form");
  for (const each of rewritten) await target.fill(each);
  await target.change([
    ...statementsOf(target),
    `DELETE FROM "${migrationsTable}"`,
    insertApplied(initial.hash, initial.when),
  ]);
}

async function requireSecondForm(target: Target): Promise<void> {
  const isFirstForm = Object.entries(sealedColumns).flatMap(([table, columns]) =>
    columns.map((column) => `EXISTS (SELECT 1 FROM ${table} WHERE ${column} NOT LIKE 'v2.%')`),
  );
  const isInClear =
    "EXISTS (SELECT 1 FROM builds WHERE environment_sealed IS NULL AND cast(environment AS text) <> '{}')";
  const found = await target.read(`SELECT 1 AS found WHERE ${[...isFirstForm, isInClear].join(" OR ")}`);
  if (found.length === 0) return;
  throw new MigrationFailed(
    `The database has secrets in a form that 1.0.0 does not read. Check out ${versionBefore}, run ${command} there, and secrets discard if no key opens some of them, then run this again.`,
  );
}

function statementsOf({ dialect }: Target): string[] {
  const isPostgres = dialect === "postgres";
  const statuses = ["exit_status", "promised_exit_status"];
  const asJson = (text: string) => (isPostgres ? `${text}::json` : text);
  const anyStatus = (column: string) =>
    `replace(cast(${column} AS text), '"exit_status":["*"]', '"exit_status":"*"')`;
  const hasAny = (column: string) => `cast(${column} AS text) LIKE '%"exit_status":["*"]%'`;
  return [
    `${task} SELECT f.id, f.kind, f.subject_id, coalesce(b.organization_id, g.organization_id), f.created_at
      FROM follow_ups f LEFT JOIN jobs j ON j.id = f.subject_id
      LEFT JOIN builds b ON b.id = coalesce(j.build_id, f.subject_id) LEFT JOIN concurrency_groups g ON g.id = f.subject_id
      WHERE coalesce(b.organization_id, g.organization_id) IS NOT NULL`,
    `${task} SELECT id, 'bulk_rebuild', id, organization_id, ${now[dialect]} FROM bulk_rebuilds WHERE finished_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.kind = 'bulk_rebuild' AND t.subject_id = bulk_rebuilds.id)`,
    // A pause that is done already changes nothing.
    `${task} SELECT queues.id, 'pause', queues.id, clusters.organization_id, ${now[dialect]}
      FROM queues JOIN clusters ON clusters.id = queues.cluster_id`,
    "UPDATE triggers SET type = 'issue_tracker' WHERE type NOT IN ('webhook', 'github', 'gitlab', 'gitea', 'bitbucket', 'issue_tracker', 'hmac')",
    `UPDATE refused_deliveries SET organization_id = (SELECT pipelines.organization_id FROM triggers
      JOIN pipelines ON pipelines.id = triggers.pipeline_id WHERE triggers.id = refused_deliveries.trigger_id)
      WHERE organization_id IS NULL`,
    ...["pipelines.steps", "jobs.options"].map((name) => {
      const [table = "", column = ""] = name.split(".");
      return `UPDATE ${table} SET ${column} = ${asJson(anyStatus(column))} WHERE ${hasAny(column)}`;
    }),
    "DELETE FROM settings WHERE name = 'builds.shared_steps'",
    // Each statement of this kind writes the whole table anew.
    ...(isPostgres
      ? [`ALTER TABLE "jobs" ${statuses.map((each) => `ALTER COLUMN "${each}" TYPE bigint`).join(", ")}`]
      : []),
    ...statuses.flatMap((each) => [
      `UPDATE jobs SET ${each} = wide_${each} WHERE wide_${each} IS NOT NULL`,
      `ALTER TABLE "jobs" DROP COLUMN "wide_${each}"`,
    ]),
    'ALTER TABLE "builds" DROP COLUMN "environment"',
    'ALTER TABLE "clusters" DROP COLUMN "queue_count"',
    'DROP TABLE "follow_ups"',
  ];
}
