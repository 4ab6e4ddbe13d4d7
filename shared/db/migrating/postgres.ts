import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { minuteMs, secondMs } from "../../durations.ts";
import { readPostgresAddress } from "../postgres/address.ts";
import { ClosingClient } from "../postgres/closing-client.ts";
import { sessionStatement } from "../postgres/session.ts";
import { failure, firstLine, MigrationFailed, neverBegun } from "./failed.ts";
import type { Backfill, Index } from "./migrations.ts";
import { tryAgain, withShortLocks } from "./postgres-locks.ts";
import { countFilled, type Report, reportIfLong, type Target } from "./target.ts";

/** Arbitrary; unique among programs on this database. */
const advisoryLock = 731_904_226;
const lockWaitMs = 10 * minuteMs;
const lockPollMs = 200;
/** For messages, which need no more of the address. */
const postgresUrl = "postgres:";
const rowsAtOnce = 1000;
const firstId = "00000000-0000-0000-0000-000000000000";

/** Connects as the only process that migrates. */
export async function onPostgres(
  url: string,
  report: Report,
  work: (target: Target) => Promise<void>,
): Promise<void> {
  const client = new ClosingClient({
    connectionString: readPostgresAddress(url).connectionString, // without limits: building an index may take hours
    connectionTimeoutMillis: 5000,
    application_name: "signalbox migrate",
  });
  client.on("error", () => {}); // a query fails with it too
  const lost = new Promise<never>((_, reject) =>
    client.once("end", () => reject(new Error("The connection to the database ended"))),
  );
  lost.catch(() => {});
  const run = async () => {
    // If this machine stops, its locks must end.
    await client.query(
      sessionStatement({ statement_timeout: 0, idle_in_transaction_session_timeout: 10_000 }),
    );
    await waitForOthers(client, report);
    await work(targetOf(client, report));
  };
  try {
    await connect(client);
    // A connection that breaks at a bad moment leaves its query without an answer.
    await Promise.race([run(), lost]);
  } finally {
    await Promise.race([client.end(), lost.catch(() => {})]); // releases the lock
  }
}

async function connect(client: Client): Promise<void> {
  try {
    await client.connect();
    await requireUsable(client);
  } catch (error) {
    throw neverBegun(error, postgresUrl);
  }
}

async function requireUsable(client: Client): Promise<void> {
  const { rows } = await client.query(
    "SELECT current_schema() AS schema, current_setting('server_encoding') AS encoding",
  );
  if (rows[0].schema === null)
    throw Object.assign(new Error("the search_path of the role names no schema that exists"), {
      code: "3F000",
    });
  if (rows[0].encoding !== "UTF8")
    throw new MigrationFailed(
      `The database has the encoding ${rows[0].encoding}, which cannot store all text: make one with ENCODING 'UTF8', and name it in DATABASE_URL.`,
    );
}

/** One process migrates at a time. A query that waits would hold back the building of indexes, so it asks again. */
async function waitForOthers(client: Client, report: Report): Promise<void> {
  for (let waited = 0; waited < lockWaitMs; waited += lockPollMs) {
    const { rows } = await client.query("SELECT pg_try_advisory_lock($1) AS mine", [advisoryLock]);
    if (rows[0].mine) return;
    if (waited === 0) report("Another process migrates. Waiting for it.");
    await sleep(lockPollMs);
  }
  throw new MigrationFailed(
    "Another process has migrated for ten minutes. Wait for it, then run this again.",
  );
}

function targetOf(client: Client, report: Report): Target {
  return {
    dialect: "postgres",
    url: postgresUrl,
    read: async (query) => (await client.query(query)).rows,
    async change(statements) {
      const tables = await presentTables(client, statements);
      await withShortLocks(client, { tables, report }, async () => {
        for (const each of statements) await run(client, each, report);
      });
    },
    fill: (backfill) => fill(client, backfill, report),
    buildIndex: (index) => buildIndex(client, index, report),
  };
}

/** The tables that these statements change or refer to, and do not make. */
async function presentTables(client: Client, statements: string[]): Promise<string[]> {
  const named = statements.flatMap((each) => [
    ...each.matchAll(/(?:\bTABLE(?: IF NOT EXISTS)?|\bUPDATE|\bREFERENCES "public"\.) ?"(\w+)"/g),
  ]);
  const { rows } = await client.query<{ name: string }>(
    "SELECT DISTINCT name FROM unnest($1::text[]) AS name WHERE to_regclass(quote_ident(name)) IS NOT NULL",
    [named.map(([, name]) => name)],
  );
  return rows.map(({ name }) => name);
}

async function run(client: Client, text: string, report: Report): Promise<void> {
  const startedAt = performance.now();
  try {
    // The session has one schema, which need not be the one that drizzle names.
    await client.query(text.replaceAll('"public".', ""));
    reportIfLong(firstLine(text), startedAt, report);
  } catch (error) {
    throw failure(error, firstLine(text), postgresUrl);
  }
}

/** A run that is killed leaves rows that the next one finds. */
async function fill(client: Client, { table, set, where }: Backfill, report: Report): Promise<void> {
  const filled = countFilled(table, report);
  let last = firstId;
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
    filled.add(found);
  }
  filled.end();
}

/** Builds it while others read and write. Replaces one that was left unfinished. */
async function buildIndex(client: Client, { name, text }: Index, report: Report): Promise<void> {
  await tryAgain(client, { tables: [], report }, async () => {
    const { rows } = await client.query<{ isValid: boolean }>(
      `SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)`,
      [`"${name}"`],
    );
    if (rows[0]?.isValid) return;
    await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
    const startedAt = performance.now();
    await client.query(text.replace(/^CREATE (UNIQUE )?INDEX/, "CREATE $1INDEX CONCURRENTLY"));
    const seconds = (performance.now() - startedAt) / secondMs;
    if (seconds > 1) report(`  built ${name} in ${seconds.toFixed(1)} s`);
  });
}
