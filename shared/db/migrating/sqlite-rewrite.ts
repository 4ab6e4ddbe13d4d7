import type Client from "better-sqlite3";
import type { Report } from "./report.ts";
import type { Rewrite } from "./rewrites.ts";
import { inShortTransaction, listColumns } from "./sqlite-steps.ts";
import type { Statement } from "./statements.ts";

const rowsAtOnce = 2000;

/**
 * Writes a table anew beside others that change it: triggers repeat their changes in the new table, to which the rows
 * are copied in batches. Then one transaction puts it into the place of the old one, and builds its indexes, whose
 * names the old one had.
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
  if (!isThere && Object.keys(columns("")).every((column) => have.includes(column))) return; // it is in its place
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
  // Rows that a trigger has written, or a run that was killed, are newer than this copy or the same.
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
