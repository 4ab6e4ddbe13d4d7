import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Client from "better-sqlite3";
import { minuteMs, secondMs } from "../../durations.ts";
import { closeOrAbandon } from "../sqlite/abandon.ts";
import { copyAnewIfMarked } from "../sqlite/copy-anew.ts";
import { requireUnmarked } from "../sqlite/sync-mark.ts";
import { failure, firstLine } from "./failed.ts";
import type { Backfill } from "./migrations.ts";
import { countFilled, type Report, reportIfLong, type Target } from "./target.ts";

const lockWaitMs = minuteMs;
const rowsAtOnce = 2000;
const restMs = { min: 20, max: secondMs };

/** Opens the file, or a new one, as the only process that migrates. */
export async function onSqlite(
  file: string,
  report: Report,
  work: (target: Target) => Promise<void>,
): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // SQLite reads it when the process opens its first database. /tmp may be memory, as in a container.
  process.env.SQLITE_TMPDIR ??= dirname(file);
  copyAnewIfMarked(file);
  const lock = new Client(`${file}.migrate`, { timeout: lockWaitMs });
  lock.exec("BEGIN EXCLUSIVE");
  try {
    if (!existsSync(file)) prepareFile(file);
    const client = new Client(file, { timeout: lockWaitMs });
    // In memory, what SQLite keeps to undo a statement, or sorts for an index, would grow with the table.
    client.pragma("temp_store = FILE");
    let problem: unknown;
    try {
      await work(targetOf(client, report));
    } catch (error) {
      problem = error;
      throw error;
    } finally {
      closeOrAbandon(client, file, problem);
    }
  } finally {
    lock.exec("ROLLBACK");
    lock.close();
  }
}

/** SQLite silently ignores `auto_vacuum` after WAL or the first table. */
function prepareFile(file: string): void {
  const client = new Client(file);
  client.pragma("auto_vacuum = INCREMENTAL");
  client.pragma("journal_mode = WAL");
  client.close();
}

function targetOf(client: Client.Database, report: Report): Target {
  const change = (statements: string[]) =>
    inShortTransaction(client, () => {
      for (const each of statements) run(client, each, report);
    });
  return {
    dialect: "sqlite",
    url: `file:${client.name}`,
    read: async <Row>(query: string) => client.prepare(query).all() as Row[],
    change,
    fill: (backfill) => fill(client, backfill, report),
    async buildIndex({ name, table, text }) {
      if (client.prepare("SELECT name FROM sqlite_schema WHERE name = ?").get(name)) return;
      const rows = client.prepare(`SELECT max(rowid) FROM "${table}"`).pluck().get() as number | null;
      if (rows) report(`  builds ${name}, of up to ${rows.toLocaleString("en")} rows: writes wait meanwhile`);
      await change([text]);
    },
  };
}

function run(client: Client.Database, text: string, report: Report): void {
  const startedAt = performance.now();
  try {
    client.exec(text);
    reportIfLong(firstLine(text), startedAt, report);
  } catch (error) {
    throw failure(error, firstLine(text), `file:${client.name}`);
  }
}

/** Then rests for as long as it kept others from writing. */
async function inShortTransaction(client: Client.Database, work: () => void): Promise<void> {
  requireUnmarked(client.name);
  const startedAt = performance.now();
  client.exec("BEGIN IMMEDIATE");
  try {
    work();
    client.exec("COMMIT");
  } catch (error) {
    if (client.inTransaction) client.exec("ROLLBACK");
    throw error;
  }
  const tookMs = performance.now() - startedAt;
  await sleep(Math.min(Math.max(tookMs, restMs.min), restMs.max));
}

/** Finds rows without a lock, and looks at them again with it. */
async function fill(client: Client.Database, { table, set, where }: Backfill, report: Report): Promise<void> {
  const filled = countFilled(table, report);
  const find = client
    .prepare(`SELECT "id" FROM "${table}" WHERE "id" > ? AND ${where} ORDER BY "id" LIMIT ${rowsAtOnce}`)
    .pluck();
  const update = client.prepare(
    `UPDATE "${table}" SET ${set} WHERE "id" IN (SELECT value FROM json_each(?)) AND ${where}`,
  );
  for (let last = ""; ; ) {
    const ids = find.all(last) as string[];
    if (ids.length === 0) return filled.end();
    await inShortTransaction(client, () => void update.run(JSON.stringify(ids)));
    last = ids.at(-1) ?? last;
    filled.add(ids.length);
  }
}
