import type { Client } from "pg";
import { secondMs } from "../../durations.ts";
import type { Backfill } from "./backfills.ts";
import { hasConstraint } from "./catalog.ts";
import { buildIndex, dropIndex } from "./postgres-indexes.ts";
import { transactionWithLocks, tryAgain } from "./postgres-locks.ts";
import type { Report } from "./report.ts";

const rowsAtOnce = 1000;
const reportEveryMs = 5 * secondMs;
const firstId = "00000000-0000-0000-0000-000000000000";

/** Fills in batches, each a transaction. A run that is killed leaves rows that the next one finds. */
export async function fillInBatches(client: Client, backfill: Backfill, report: Report): Promise<void> {
  const { table, set, where } = backfill;
  let last = firstId;
  let filled = 0;
  let reportedAt = performance.now();
  for (let found = 1; found > 0; ) {
    await tryAgain(client, { tables: [table], report }, async () => {
      await client.query("BEGIN");
      await client.query("SET LOCAL lock_timeout = 500");
      // In the order in which the application locks rows.
      const { rows } = await client.query<{ id: string }>(
        `SELECT "id" FROM "${table}" WHERE "id" > $1 AND ${where} ORDER BY "id" LIMIT ${rowsAtOnce} FOR NO KEY UPDATE`,
        [last],
      );
      const ids = rows.map(({ id }) => id);
      await client.query(`UPDATE "${table}" SET ${set} WHERE "id" = ANY($1)`, [ids]);
      await client.query("COMMIT");
      last = ids.at(-1) ?? last;
      found = ids.length;
    });
    filled += found;
    if (performance.now() - reportedAt < reportEveryMs) continue;
    reportedAt = performance.now();
    report(`  ${table}: ${filled.toLocaleString("en")} rows filled`);
  }
}

/**
 * Fills all rows, and then refuses rows without values by a constraint, so that `SET NOT NULL` need not read the table
 * under a lock. Other processes write rows until the constraint is there: an index finds these last rows at once.
 */
export async function fillRequired(client: Client, backfill: Backfill, report: Report): Promise<void> {
  const { table, set, where, required = [] } = backfill;
  const index = `${table}__unfilled`;
  await buildIndex(
    client,
    { name: index, text: `CREATE INDEX "${index}" ON "${table}" ("id") WHERE ${where}` },
    report,
  );
  await fillInBatches(client, backfill, report);
  const missing: string[] = [];
  for (const column of required)
    if (!(await hasConstraint(client, table, requiredCheck(table, column)))) missing.push(column);
  if (missing.length > 0)
    await transactionWithLocks(client, { locks: new Map([[table, "everything"]]), report }, async () => {
      await client.query("SET LOCAL enable_seqscan = off"); // the statistics do not know the index yet
      await client.query(`UPDATE "${table}" SET ${set} WHERE ${where}`);
      for (const column of missing)
        await client.query(
          `ALTER TABLE "${table}" ADD CONSTRAINT "${requiredCheck(table, column)}" CHECK ("${column}" IS NOT NULL) NOT VALID`,
        );
    });
  for (const column of required)
    await client.query(`ALTER TABLE "${table}" VALIDATE CONSTRAINT "${requiredCheck(table, column)}"`);
  await dropIndex(client, index);
}

/** The constraint that stands for NOT NULL until the migration ends. */
export function requiredCheck(table: string, column: string): string {
  return `${table}_${column}__required`;
}
