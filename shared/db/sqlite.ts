import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import Client from "better-sqlite3";
import { getTableColumns, getTableName } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { LRUCache } from "lru-cache";
import { kits } from "./columns.ts";
import { DatabaseUnavailable, type Db, type Tx, translateError } from "./database.ts";
import { defineSchema } from "./schema.ts";
import { insideTransaction, refuseInsideTransaction } from "./transaction-guard.ts";

export const sqliteTables = defineSchema(kits.sqlite);

/** A statement that waits for another process's lock blocks the event loop, so writers never wait: they retry. */
const openingBusyTimeoutMs = 5000;
const readerBusyTimeoutMs = 1000;
const cachedStatements = 500;

/**
 * SQLite: one connection that writes, one transaction after the other, and one that reads. A write that finds
 * the database locked by another process is tried again from a timer, at random intervals, until `timeoutMs`.
 */
export function openSqlite(file: string, options: { timeoutMs: number }): Db {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const writer = connect(file);
  const reader = connect(file);
  writer.pragma("busy_timeout = 0");
  reader.pragma(`busy_timeout = ${readerBusyTimeoutMs}`);

  const writes = drizzle({ client: withStatementCache(writer) });
  const reads = drizzle({ client: withStatementCache(reader) });
  const tx = {
    tables: sqliteTables,
    select: writes.select.bind(writes),
    insert: writes.insert.bind(writes),
    update: writes.update.bind(writes),
    delete: writes.delete.bind(writes),
    insertMany: rowByRow(writer),
  } as unknown as Tx;

  let last: Promise<unknown> = Promise.resolve();
  const oneAfterTheOther = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    // A transaction's own awaits are microtasks only: without a turn between them, timers and sockets starve.
    last = result.then(nextTurn, nextTurn);
    return result;
  };

  const begin = writer.prepare("BEGIN IMMEDIATE");
  const commit = writer.prepare("COMMIT");
  const rollback = writer.prepare("ROLLBACK");
  const transaction = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    await untilNotBusy(() => begin.run(), options.timeoutMs);
    try {
      const result = await insideTransaction(() => work(tx));
      commit.run();
      return result;
    } catch (error) {
      if (writer.inTransaction) rollback.run();
      throw translateError(error);
    }
  };

  return {
    tables: sqliteTables,
    dialect: "sqlite",
    select: ((...fields: Parameters<typeof reads.select>) => {
      refuseInsideTransaction("A read through db");
      return reads.select(...fields);
    }) as unknown as Db["select"],
    transaction(work) {
      refuseInsideTransaction("A transaction");
      return oneAfterTheOther(() => transaction(work));
    },
    giveBackSpace: (maxPages) => oneAfterTheOther(async () => vacuum(writer, maxPages)),
    async close() {
      await last;
      reader.close();
      writer.close();
    },
  };
}

/** Open a connection with the settings that durability depends on; `auto_vacuum` only takes before WAL. */
function connect(file: string): Client.Database {
  const client = new Client(file, { timeout: openingBusyTimeoutMs });
  client.pragma("auto_vacuum = INCREMENTAL");
  client.pragma("journal_mode = WAL");
  client.pragma("synchronous = FULL");
  client.pragma("foreign_keys = ON");
  client.pragma("mmap_size = 0");
  client.pragma("journal_size_limit = 67108864");
  return client;
}

async function untilNotBusy(begin: () => void, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let tries = 1; ; tries++) {
    try {
      return begin();
    } catch (error) {
      const failure = translateError(error);
      const isBusy = (error as { code?: string }).code?.startsWith("SQLITE_BUSY");
      if (!isBusy || performance.now() > deadline) throw failure;
      await sleep((1 + Math.random()) * Math.min(tries, 5));
    }
  }
}

/** Preparing a statement costs more than running it; the texts that drizzle makes repeat. */
function withStatementCache(client: Client.Database): Client.Database {
  const cache = new LRUCache<string, Client.Statement>({ max: cachedStatements });
  const prepare = (text: string) => {
    const cached = cache.get(text);
    if (!cached) {
      const statement = client.prepare(text);
      cache.set(text, statement);
      return statement;
    }
    return cached.reader ? cached.raw(false) : cached;
  };
  return new Proxy(client, {
    get: (target, key) => (key === "prepare" ? prepare : Reflect.get(target, key)),
  });
}

/** One prepared statement, run for each row: twice as fast as one statement with many rows. */
function rowByRow(writer: Client.Database): Tx["insertMany"] {
  const inserts = new Map<SQLiteTable, (row: Record<string, unknown>) => void>();

  const prepareInsert = (table: SQLiteTable) => {
    const columns = Object.entries(getTableColumns(table));
    const names = columns.map(([, column]) => `"${column.name}"`).join(", ");
    const marks = columns.map(() => "?").join(", ");
    const statement = writer.prepare(`insert into "${getTableName(table)}" (${names}) values (${marks})`);
    return (row: Record<string, unknown>) => {
      statement.run(
        columns.map(([key, column]) => (row[key] == null ? null : column.mapToDriverValue(row[key]))),
      );
    };
  };

  return async (table, rows) => {
    let insert = inserts.get(table);
    if (!insert) {
      insert = prepareInsert(table);
      inserts.set(table, insert);
    }
    for (const row of rows) insert(row);
  };
}

function vacuum(writer: Client.Database, maxPages: number): number {
  const free = () => Number(writer.pragma("freelist_count", { simple: true }));
  const before = free();
  if (before === 0) return 0;
  try {
    writer.pragma(`incremental_vacuum(${maxPages})`);
  } catch (error) {
    if (translateError(error) instanceof DatabaseUnavailable) return 0; // another process writes: next time
    throw error;
  }
  return before - free();
}
