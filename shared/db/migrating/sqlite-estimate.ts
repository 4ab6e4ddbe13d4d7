import type Client from "better-sqlite3";
import { secondMs } from "../../durations.ts";
import type { Migration } from "./journal.ts";
import type { Report } from "./report.ts";
import { rewrites } from "./rewrites.ts";
import { isDone } from "./sqlite-steps.ts";
import { createdTables } from "./statements.ts";

const sampledRows = 20_000;
/** Copying a row takes as long as indexing it this many times, rests included. */
const copyFactor = 6;

/** Reports the time that the migration takes and its effects, before anything is locked. */
export function announce(client: Client.Database, pending: Migration[], report: Report): void {
  const created = createdTables(pending.flatMap(({ statements }) => statements));
  const indexMs = new Map<string, number>();
  const msFor = (table: string) => {
    if (created.has(table)) return 0;
    const known = indexMs.get(table) ?? measureIndex(client, table);
    indexMs.set(table, known);
    return known;
  };
  let totalMs = 0;
  let maxLockMs = 0;
  let indexes = 0;
  for (const { tag, statements } of pending) {
    const rewrite = rewrites[tag];
    let swapMs = 0;
    for (const each of statements) {
      if (each.kind !== "create index" || isDone(client, each)) continue;
      const ms = msFor(each.table);
      if (each.table === rewrite?.table) swapMs += ms;
      totalMs += ms;
      maxLockMs = Math.max(maxLockMs, ms, swapMs);
      indexes++;
    }
    if (rewrite) totalMs += copyFactor * msFor(rewrite.table);
  }
  const rows = Math.max(0, ...[...indexMs.keys()].map((table) => countRows(client, table)));
  report(
    `${pending.length} migrations are pending, with ${indexes} indexes, of tables with up to ${rows.toLocaleString("en")} rows: ` +
      `about ${inSeconds(totalMs + maxLockMs)}, as measured with a sample. ` +
      `Each index locks the database, the longest for about ${inSeconds(maxLockMs)}. ` +
      "Writes wait meanwhile. A delivery that waits for longer than DATABASE_TIMEOUT_MS (5 s) is answered 503, and its sender must repeat it.",
  );
}

/** Estimates the time of an index from one of a sample in memory. */
function measureIndex(client: Client.Database, table: string): number {
  const rows = countRows(client, table);
  if (rows === 0) return 0;
  const startedAt = performance.now();
  client.exec(`CREATE TEMP TABLE "__sample" AS SELECT * FROM "${table}" LIMIT ${sampledRows}`);
  const [first, second] = client.prepare("SELECT name FROM pragma_table_info('__sample')").pluck().all();
  client.exec(`CREATE INDEX temp."__sample_index" ON "__sample" ("${second}", "${first}")`);
  client.exec(`DROP TABLE temp."__sample"`);
  return ((performance.now() - startedAt) * rows) / Math.min(rows, sampledRows);
}

/** An upper bound, without reading the table. */
function countRows(client: Client.Database, table: string): number {
  return Number(client.prepare(`SELECT max(rowid) FROM "${table}"`).pluck().get() ?? 0);
}

function inSeconds(ms: number): string {
  return ms < secondMs ? "a second" : `${Math.ceil(ms / secondMs)} s`;
}
