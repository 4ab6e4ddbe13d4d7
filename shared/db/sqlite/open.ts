import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Client from "better-sqlite3";
import type { SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { secondMs } from "../../durations.ts";
import type { Clock } from "../../process/clock.ts";
import { Threads } from "../../process/threads.ts";
import { rememberRecent } from "../../sharing/recent.ts";
import { kits } from "../columns.ts";
import {
  DatabaseUnavailable,
  type Db,
  type First,
  type LockStrength,
  type Tx,
  translateError,
} from "../database.ts";
import { Inserts } from "../inserts.ts";
import type { DatabaseOptions } from "../options.ts";
import { defineSchema } from "../schema.ts";
import { refuseInsideTransaction } from "../transaction-guard.ts";
import { abandon } from "./abandon.ts";
import type { doCheckpointTask } from "./checkpoint-task.ts";
import { openCheckpoints } from "./checkpoints.ts";
import { copyAnewIfMarked } from "./copy-anew.ts";
import { hideValues } from "./hide-values.ts";
import { openLogSync } from "./log-sync.ts";
import { openOffLoop } from "./off-loop.ts";
import { measureSqlite } from "./size.ts";
import { openSyncGuard } from "./sync-guard.ts";
import { sqliteTransactions } from "./transactions.ts";

export const sqliteTables = defineSchema(kits.sqlite);

/** Waiting for a lock blocks the event loop, so the writer retries. */
const openingBusyTimeoutMs = 5 * secondMs;
const readerBusyTimeoutMs = secondMs;
const cachedStatements = 500;

export function openSqlite(
  file: string,
  options: Omit<DatabaseOptions, "url" | "poolSize" | "onError"> & { clock: Clock },
): Db {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (copyAnewIfMarked(file)) options.onCopied?.();
  const writer = connect(file);
  const reader = connect(file);
  writer.pragma("busy_timeout = 0");
  writer.pragma("synchronous = NORMAL"); // `openLogSync` syncs each commit
  reader.pragma(`busy_timeout = ${readerBusyTimeoutMs}`);

  const writes = hideValues(drizzle({ client: withStatementCache(writer) }));
  const reads = hideValues(drizzle({ client: withStatementCache(reader) }));
  const tx = {
    tables: sqliteTables,
    get now() {
      return options.clock.now();
    },
    select: writes.select.bind(writes),
    insert: writes.insert.bind(writes),
    update: writes.update.bind(writes),
    delete: writes.delete.bind(writes),
    insertMany: rowByRow(writer),
    lock(table: SQLiteTable, where: SQL | undefined, _: LockStrength, first?: First) {
      const rows = writes.select().from(table).where(where);
      return first ? rows.orderBy(first.orderBy).limit(first.limit) : rows;
    },
  } as unknown as Tx;

  const thread = new Threads({ max: 1 });
  const inThread = thread.wrap<typeof doCheckpointTask>(
    new URL("./checkpoint-task.ts", import.meta.url),
    "doCheckpointTask",
  );
  const guard = openSyncGuard(file, (error) => {
    abandon(reader, writer); // also if the process ends by an error
    options.onSyncFailed?.(error);
  });
  const logSync = openLogSync(file, guard);
  const checkpoints = openCheckpoints(writer, { file, inThread, onSyncFailed: guard.fail });
  const transactions = sqliteTransactions(writer, {
    ...options,
    tx,
    untilReady() {
      guard.requireWhole();
      return checkpoints.untilShort();
    },
    sync: logSync.sync,
    onSyncFailed: guard.fail,
    onCommitted: checkpoints.startIfDue,
    onDiskFull: checkpoints.diskIsFull,
  });
  const offLoop = openOffLoop(file, sqliteTables);

  return {
    tables: sqliteTables,
    dialect: "sqlite",
    select: ((...fields: Parameters<typeof reads.select>) => {
      refuseInsideTransaction("A read through db");
      return reads.select(...fields);
    }) as unknown as Db["select"],
    offLoop,
    transaction(work) {
      refuseInsideTransaction("A transaction");
      return transactions.transaction(work);
    },
    sync: logSync.sync,
    readClock: async () => options.clock.now(),
    measureSize: () => measureSqlite(file),
    vacuum: (maxPages) => transactions.between(() => vacuum(writer, maxPages)),
    async close() {
      await transactions.idle();
      await logSync.close();
      await thread.close();
      await offLoop.close();
      if (!guard.close()) return;
      reader.close();
      writer.close();
    },
  };
}

/** `auto_vacuum` must come before WAL. */
function connect(file: string): Client.Database {
  const client = new Client(file, { timeout: openingBusyTimeoutMs });
  client.pragma("auto_vacuum = INCREMENTAL");
  client.pragma("journal_mode = WAL");
  client.pragma("foreign_keys = ON");
  client.pragma("mmap_size = 0");
  client.pragma("temp_store = MEMORY"); // else savepoints and sorts write temporary files
  client.pragma("journal_size_limit = 67108864");
  return client;
}

/** Preparing costs more than running. */
function withStatementCache(client: Client.Database): Client.Database {
  const cache = rememberRecent<Client.Statement>(cachedStatements);
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

type Insert = (row: Record<string, unknown>) => void;

/** Twice as fast as one statement with many rows. */
function rowByRow(writer: Client.Database): Tx["insertMany"] {
  const inserts = { plain: new Map<SQLiteTable, Insert>(), upsert: new Map<SQLiteTable, Insert>() };

  const prepareInsert = (table: SQLiteTable, onConflict: string | undefined): Insert => {
    const insert = new Inserts(table, () => "?", onConflict);
    const statement = writer.prepare(insert.text(1));
    return (row) => void statement.run(insert.values([row]));
  };

  return async (table, rows, onConflict) => {
    const known = onConflict === undefined ? inserts.plain : inserts.upsert;
    let insert = known.get(table);
    if (!insert) {
      insert = prepareInsert(table, onConflict);
      known.set(table, insert);
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
    if (translateError(error) instanceof DatabaseUnavailable) return 0; // another process writes
    throw error;
  }
  return before - free();
}
