import type Client from "better-sqlite3";
import type { Report } from "./report.ts";
import type { Rewrite } from "./rewrites.ts";
import { inShortTransaction, listColumns } from "./sqlite-steps.ts";
import type { Statement } from "./statements.ts";

const rowsAtOnce = 2000;

/**
 * Writes a table anew while other processes change it. Triggers repeat each change in the new table, and batches copy
 * the rows. Then one transaction replaces the old table and builds the indexes, whose names the old table had.
 */
export async function rewriteTable(
  client: Client.Database,
  { table, columns }: Rewrite,
  statements: Statement[],
  report: Report,
): Promise<void> {
  const copy = `__new_${table}`;
  const isThere = listColumns(client, copy).length > 0;
  const have = listColumns(client, table);
  if (!isThere && Object.keys(columns("")).every((column) => have.includes(column))) return; // the new table has replaced the old one
  const names = Object.keys(columns("")).map((name) => `"${name}"`);
  const insertInto = `INTO "${copy}" (${names.join(", ")})`;
  const valuesOf = (row: string) => Object.values(columns(row)).join(", ");

  await inShortTransaction(client, () => {
    if (!isThere)
      for (const each of statements)
        if (each.kind === "create table" && each.table === copy) client.exec(each.text);
    for (const event of ["INSERT", "UPDATE"])
      client.exec(
        `CREATE TRIGGER IF NOT EXISTS "${copy}_${event}" AFTER ${event} ON "${table}"
         BEGIN INSERT OR REPLACE ${insertInto} SELECT ${valuesOf("NEW")}; END`,
      );
    client.exec(
      `CREATE TRIGGER IF NOT EXISTS "${copy}_DELETE" AFTER DELETE ON "${table}"
       BEGIN DELETE FROM "${copy}" WHERE "id" = OLD."id"; END`,
    );
  });

  const findEnd = client
    .prepare(
      `SELECT max(rowid) FROM (SELECT rowid FROM "${table}" WHERE rowid > ? ORDER BY rowid LIMIT ${rowsAtOnce})`,
    )
    .pluck();
  // A row that a trigger or an earlier run has written is as new as this copy, or newer.
  const copyRows = client.prepare(
    `INSERT OR IGNORE ${insertInto} SELECT ${valuesOf(`"${table}"`)} FROM "${table}" WHERE rowid > ? AND rowid <= ? ORDER BY rowid`,
  );
  for (let from = 0; ; ) {
    const end = findEnd.get(from) as number | null;
    if (end === null) break;
    await inShortTransaction(client, () => void copyRows.run(from, end));
    from = end;
  }

  report(`  ${table}: copied; the copy takes its place, and its indexes are built`);
  await inShortTransaction(client, () => {
    client.exec(`DROP TABLE "${table}"`); // and its triggers
    client.exec(`ALTER TABLE "${copy}" RENAME TO "${table}"`);
    for (const each of statements)
      if (each.kind === "create index" && each.table === table) client.exec(each.text);
  });
}
