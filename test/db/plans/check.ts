import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import Client from "better-sqlite3";
import { getTableName } from "drizzle-orm";
import { Client as PostgresClient } from "pg";
import { sqliteFile } from "../../../shared/db/open.ts";
import { postgresTables } from "../../../shared/db/postgres.ts";
import { sqliteTables } from "../../../shared/db/sqlite/open.ts";
import type { TestDatabase } from "../../helpers/databases.ts";
import { fill, type Insert, type Shared } from "./fill.ts";
import { openRecorder, type Recorder } from "./recorder.ts";
import { statements } from "./statements.ts";
import { openTour, stayAtHome, type Tour } from "./tour.ts";

const { organizations, users, applications, settings, filterMisses, signingKeys, ...growing } = sqliteTables;
const growingNames = Object.values(growing).map((table) => getTableName(table));
/** Tables that grow slowly have a tenth of the rows. */
const slow = new Set(["members", "clusters", "queues", "pipelines", "triggers"]);

/** Fewer are a sign that the recording has broken. */
const minRecorded = 400;

/** Their indexes have few rows: those that are paused, deleted, wait or are open. */
const partialIndexes =
  "queues_paused|pipelines_deleted|pipelines_deleted_ids|jobs_paused|deliveries_due|bulk_rebuilds_running|artifacts_open|outbox_failed";
const scanOfGrowing = new RegExp(
  `(^|\\s)(SCAN|Seq Scan on) "?(${growingNames.join("|")})\\b(?! USING (COVERING )?INDEX (${partialIndexes})$)`,
  "m",
);

/** First pages, and rows of hours. */
const knownScans = new RegExp(
  [
    "SCAN (tasks|jobs|queues) USING (COVERING )?INDEX (tasks_due|jobs_mark|jobs_scheduled|sqlite_autoindex_queues_1)",
    "SCAN (payload|log|artifact)_totals USING INDEX",
    "SCAN (news|outbox_receivers) USING (COVERING )?INDEX (news_order|outbox_receivers_due|sqlite_autoindex_\\w+)",
  ].join("|"),
);
/** SQLite plans a statement anew for each value that is compared with a column. */
const visibleValue = /^(select|update|delete|with)\b.*[^+]\?/s;
/** Those of tests. */
const wholeTable = /^select [^(]* from "\w+"$/;

interface Options {
  amount: number;
  isAnalysed: boolean;
  /** Checks the statements of a tour too. Their values are later than all rows: if these are counted, a scan is right. */
  hasTour: boolean;
}

/** Declares tests of plans: no statement reads a growing table from its beginning to its end. */
export function testPlans(database: TestDatabase, { amount, isAnalysed, hasTour }: Options): void {
  let tour: Tour;
  let recorder: Recorder;

  before(async () => {
    tour = await (hasTour ? openTour : stayAtHome)(database);
    await fillTables(database, tour, { amount, isAnalysed });
    recorder = await openRecorder(database.dialect, tour.url);
  });
  after(async () => {
    await recorder?.close();
    await tour?.close();
  });

  if (hasTour)
    it("reads by an index what every operation, page and job asks for", async () => {
      const scans: string[] = [];
      for (const [statement, values] of tour.statements) {
        if (statement.includes("where false") || wholeTable.test(statement)) continue;
        const told = `${statement}\n${await recorder.explain(statement, values)}`;
        if (scanOfGrowing.test(told) && !knownScans.test(told)) scans.push(told);
      }

      assert.ok(tour.statements.size > minRecorded, `only ${tour.statements.size} statements`);
      assert.deepEqual(scans, []);
    });

  if (hasTour && database.dialect === "sqlite")
    it("plans each statement once", () => {
      const texts = [...tour.statements.keys()];
      assert.deepEqual(
        texts.filter((text) => visibleValue.test(text)),
        [],
      );
    });

  for (const [name, { run, ...expected }] of Object.entries(statements)) {
    it(`reads ${name} by an index`, async () => {
      await run(recorder.db);
      const plans = recorder.takePlans();

      assert.ok(plans.length > 0);
      // A list of no ids reads nothing.
      for (const { statement, plan } of plans.filter((each) => !each.statement.includes("where false"))) {
        assert.doesNotMatch(plan, scanOfGrowing, `${statement}\n${plan}`);
        assert.match(plan, expected[database.dialect] ?? /^/, `${statement}\n${plan}`);
      }
    });
  }
}

async function fillTables(
  { dialect }: TestDatabase,
  { url, shared }: { url: string; shared: Shared },
  { amount, isAnalysed }: { amount: number; isAnalysed: boolean },
): Promise<void> {
  const { insert, execute, close } = dialect === "sqlite" ? openSqlite(url) : await openPostgres(url);
  for (const [key, table] of Object.entries(dialect === "sqlite" ? sqliteTables : postgresTables)) {
    if (!(key in growing)) continue;
    const rows = slow.has(key) ? amount / 10 : amount;
    await fill(insert, table as typeof sqliteTables.builds, { amount: rows, shared });
  }
  if (isAnalysed) await execute("ANALYZE");
  await close();
}

function openSqlite(url: string) {
  const client = new Client(sqliteFile(url));
  client.pragma("foreign_keys = OFF");
  client.pragma("synchronous = OFF");
  const insert: Insert = async (table, columns, rows) => {
    const names = columns.map(({ name }) => `"${name}"`);
    const statement = client.prepare(`INSERT INTO "${table}" (${names}) VALUES (${names.map(() => "?")})`);
    const encode = (row: unknown[]) =>
      row.map((value, index) => (value === null ? null : columns[index]?.mapToDriverValue(value)));
    client.transaction(() => rows.forEach((row) => void statement.run(encode(row))))();
  };
  return {
    insert,
    execute: async (statement: string) => void client.exec(statement),
    close: async () => void client.close(),
  };
}

async function openPostgres(url: string) {
  const client = new PostgresClient({ connectionString: url });
  await client.connect();
  await client.query("SET session_replication_role = replica"); // no foreign keys
  const encode = (value: unknown) => (value instanceof Buffer ? `\\x${value.toString("hex")}` : value);
  const insert: Insert = async (table, columns, rows) => {
    const records = rows.map((row) =>
      Object.fromEntries(columns.map(({ name }, index) => [name, encode(row[index])])),
    );
    const statement = `INSERT INTO "${table}" SELECT * FROM json_populate_recordset(NULL::"${table}", $1)`;
    await client.query(statement, [JSON.stringify(records)]);
  };
  return {
    insert,
    execute: async (statement: string) => void (await client.query(statement)),
    close: () => client.end(),
  };
}
