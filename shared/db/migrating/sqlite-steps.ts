import { setTimeout as sleep } from "node:timers/promises";
import type Client from "better-sqlite3";
import { secondMs } from "../../durations.ts";
import { requireUnmarked } from "../sqlite/sync-mark.ts";
import type { Backfill } from "./backfills.ts";
import { failure } from "./failed.ts";
import { type Statement, shortText } from "./statements.ts";

const rowsAtOnce = 2000;
const restMs = { min: 20, max: secondMs };

/** Then rests for as long as it kept others from writing. */
export async function inShortTransaction(client: Client.Database, work: () => void): Promise<void> {
  requireUnmarked(client.name);
  const startedAt = performance.now();
  inTransaction(client, work);
  const tookMs = performance.now() - startedAt;
  await sleep(Math.min(Math.max(tookMs, restMs.min), restMs.max));
}

export function inTransaction(client: Client.Database, work: () => void): void {
  client.exec("BEGIN IMMEDIATE");
  try {
    work();
    client.exec("COMMIT");
  } catch (error) {
    if (client.inTransaction) client.exec("ROLLBACK");
    throw error;
  }
}

export function execute(client: Client.Database, tag: string, statements: Statement[]): void {
  for (const each of statements) {
    try {
      client.exec(each.text);
    } catch (error) {
      throw failure(error, `${tag}, ${shortText(each)}`, `file:${client.name}`);
    }
  }
}

/** Returns true for a statement that an earlier run, which was killed, has run. */
export function isDone(client: Client.Database, statement: Statement): boolean {
  switch (statement.kind) {
    case "create table":
      return findText(client, statement.table) !== undefined;
    case "add column":
      return listColumns(client, statement.table).includes(statement.column);
    case "create index":
      return findText(client, statement.name) === statement.text.replace(/;$/, "");
    case "drop index":
      return findText(client, statement.name) === undefined;
    default:
      return false;
  }
}

/** The SQL that made a table or an index, as it was written. */
function findText(client: Client.Database, name: string): string | undefined {
  return client.prepare("SELECT sql FROM sqlite_schema WHERE name = ?").pluck().get(name) as
    | string
    | undefined;
}

export function listColumns(client: Client.Database, table: string): string[] {
  return client.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table) as string[];
}

/** Finds rows without a lock, and looks at them again with it. */
export async function fillInBatches(client: Client.Database, { table, set, where }: Backfill): Promise<void> {
  const find = client
    .prepare(`SELECT "id" FROM "${table}" WHERE "id" > ? AND ${where} ORDER BY "id" LIMIT ${rowsAtOnce}`)
    .pluck();
  const fill = client.prepare(
    `UPDATE "${table}" SET ${set} WHERE "id" IN (SELECT value FROM json_each(?)) AND ${where}`,
  );
  for (let last = ""; ; ) {
    const ids = find.all(last) as string[];
    if (ids.length === 0) return;
    await inShortTransaction(client, () => void fill.run(JSON.stringify(ids)));
    last = ids.at(-1) ?? last;
  }
}
