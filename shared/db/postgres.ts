import { setTimeout as sleep } from "node:timers/promises";
import { getTableName, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { getTableConfig, type PgColumn, type PgTable } from "drizzle-orm/pg-core";
import { DatabaseError, Pool, type PoolClient, type PoolConfig, type QueryConfig } from "pg";
import { secondMs } from "../durations.ts";
import type { Clock } from "../process/clock.ts";
import { resources } from "../sharing/bounds.ts";
import { openTurns, type Turns, takeOwnTurn } from "../sharing/turns.ts";
import { kits } from "./columns.ts";
import {
  CommitUnknown,
  type DatabaseSize,
  DatabaseUnavailable,
  type Db,
  type First,
  type LockStrength,
  type Reader,
  rootCause,
  type Tx,
  translateError,
} from "./database.ts";
import { Inserts } from "./inserts.ts";
import type { DatabaseOptions } from "./options.ts";
import { readPostgresAddress } from "./postgres/address.ts";
import { ClosingClient } from "./postgres/closing-client.ts";
import { sessionStatement } from "./postgres/session.ts";
import { defineSchema } from "./schema.ts";
import { insideTransaction, refuseInsideTransaction } from "./transaction-guard.ts";

export const postgresTables = defineSchema(kits.postgres);

const primaryKeys = new Map<PgTable, PgColumn[]>(
  (Object.values(postgresTables) as unknown as PgTable[]).map((table) => [table, primaryKeyColumns(table)]),
);

const connectTimeoutMs = secondMs;
const statementTimeoutMs = 2 * secondMs;
const idleTransactionTimeoutMs = 10 * secondMs;
/** Long: a timed-out COMMIT may have happened, and a retry would repeat the work. */
const commit = { text: "COMMIT", query_timeout: 10 * secondMs };
/**
 * Serialization failure, deadlock, lost race for a unique key: a second run sees the other row and refuses. Lost race with
 * the delete of a row that another refers to: a second run sees that it is gone.
 */
const retryableCodes = new Set(["40001", "40P01", "23505", "23503"]);
const maxTries = 5;
/** Keeps prepared statements small. */
const maxRowsInserted = 64;
const inserts = { insert: new Map<PgTable, Inserts>(), upsert: new Map<PgTable, Inserts>() };

/** @param url its `connect_timeout`, in seconds as for libpq, and its limits replace the defaults */
function poolConfig(url: string, max: number): PoolConfig {
  const { connectionString, connectTimeoutMs: wanted, limits } = readPostgresAddress(url);
  const { query_timeout = statementTimeoutMs, ...ofServer } = limits;
  const session = sessionStatement({
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
    ...ofServer,
  });
  return {
    Client: ClosingClient,
    connectionString,
    max,
    connectionTimeoutMillis: wanted ?? connectTimeoutMs,
    query_timeout,
    application_name: "signalbox",
    onConnect: async (client) => void (await client.query(session)),
  };
}

/** @param options.onError called when an idle connection breaks */
export function openPostgres(
  url: string,
  options: Pick<DatabaseOptions, "poolSize" | "onError" | "onLockReleased" | "onWrite" | "onDue"> & {
    clock: Clock;
  },
): Db {
  const pool = new Pool(poolConfig(url, options.poolSize));
  pool.on("error", options.onError);
  // Without it, a backend terminated in use ends the process.
  pool.on("connect", (client) => client.on("error", options.onError));
  const turns = openTurns({
    ...resources.queries,
    max: options.poolSize,
    maxBesideOthers: Math.ceil(options.poolSize / 2),
  });
  const longTurns = openTurns(resources.longReads);

  const transactions = new WeakMap<PoolClient, Tx>(); // one per connection, so that prepared queries are kept
  /** The connections whose transaction has a statement that a read-only server refuses. */
  const writing = new WeakSet<PoolClient>();
  const transactionOf = (client: PoolClient) => {
    const tx = transactions.get(client) ?? transactionOn(client, options.clock, () => writing.add(client));
    transactions.set(client, tx);
    return tx;
  };

  const runOnce = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    const startedAt = performance.now();
    let broken: Error | undefined;
    try {
      writing.delete(client);
      await client.query("BEGIN");
      const { result, due } = await insideTransaction(() => work(transactionOf(client)));
      await client.query(commit).catch((error) => {
        throw isRefusal(error) ? error : new CommitUnknown("COMMIT was not answered.", { cause: error });
      });
      if (writing.has(client)) options.onWrite?.();
      if (due.length > 0) options.onDue?.(due);
      return result;
    } catch (error) {
      broken = await client.query("ROLLBACK").then(
        () => undefined,
        (failure: Error) => failure,
      );
      throw error;
    } finally {
      options.onLockReleased?.((performance.now() - startedAt) / secondMs);
      client.release(broken); // destroyed: it cannot roll back
    }
  };

  const reportFault = (error: unknown) => {
    const translated = translateError(error);
    if (translated instanceof DatabaseUnavailable) options.onWrite?.(translated);
    return translated;
  };

  return {
    ...openReader(pool, turns),
    dialect: "postgres",
    offLoop: openReader(pool, longTurns),
    async transaction(work) {
      refuseInsideTransaction("A transaction");
      for (let tries = 1; ; tries++) {
        try {
          return await takeOwnTurn(turns, () => runOnce(work));
        } catch (error) {
          const code = (rootCause(error) as { code?: string } | undefined)?.code ?? "";
          if (!retryableCodes.has(code) || tries === maxTries) throw reportFault(error);
          await sleep(Math.random() * 20 * tries);
        }
      }
    },
    sync: async () => {}, // it shows no commit before
    readClock: async () => (await pool.query<{ now: Date }>("select now()")).rows[0]?.now as Date,
    measureSize: () => measureSize(pool),
    vacuum: async () => 0, // autovacuum does it
    close: () => pool.end(),
  };
}

function openReader(pool: Pool, turns: Turns): Reader {
  const query = (config: QueryConfig, values?: unknown[]) =>
    takeOwnTurn(turns, () => pool.query(config, values));
  const client = new Proxy(pool, {
    get: (target, key) => (key === "query" ? query : Reflect.get(target, key)),
  });
  const reads = drizzle({ client });
  return {
    tables: postgresTables,
    select: ((...fields: Parameters<typeof reads.select>) => {
      refuseInsideTransaction("A read through db");
      return reads.select(...fields);
    }) as unknown as Reader["select"],
  };
}

async function measureSize(pool: Pool): Promise<DatabaseSize> {
  const measure = async (statement: string) =>
    Number((await pool.query<{ bytes: string }>(statement)).rows[0]?.bytes ?? 0);
  const { rows } = await pool.query<{ may: boolean }>(
    "select has_function_privilege('pg_ls_waldir()', 'execute') as may",
  );
  return {
    bytes: await measure("select pg_database_size(current_database()) as bytes"),
    logBytes: rows[0]?.may ? await measure("select sum(size) as bytes from pg_ls_waldir()") : undefined,
    freeBytes: undefined,
  };
}

/** Postgres answered, and the connection lives: nothing was committed. */
function isRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && error.severity === "ERROR";
}

function transactionOn(client: PoolClient, clock: Clock, onWrite: () => void): Tx {
  const queries = drizzle({ client });
  const tx = {
    tables: postgresTables,
    get now() {
      return clock.now();
    },
    lock(table: PgTable, where: SQL | undefined, strength: LockStrength, first?: First) {
      // One order: locks of several rows would deadlock.
      const rows = queries
        .select()
        .from(table)
        .where(where)
        .orderBy(...(first ? [first.orderBy] : primaryKeyOf(table)))
        .$dynamic();
      if (first) rows.limit(first.limit);
      if (strength === "shared") return rows.for("share");
      return rows.for("no key update", strength === "if-free" ? { skipLocked: true } : {});
    },
    select: queries.select.bind(queries),
    insert: (...args: Parameters<typeof queries.insert>) => {
      onWrite();
      return queries.insert(...args);
    },
    update: (...args: Parameters<typeof queries.update>) => {
      onWrite();
      return queries.update(...args);
    },
    delete: (...args: Parameters<typeof queries.delete>) => {
      onWrite();
      return queries.delete(...args);
    },
    async insertMany(table: PgTable, rows: Record<string, unknown>[], onConflict?: string) {
      onWrite();
      for (let start = 0; start < rows.length; ) {
        const some = rows.slice(start, start + countPrepared(rows.length - start));
        await client.query(preparedInsert(table, some, onConflict));
        start += some.length;
      }
    },
  };
  return tx as unknown as Tx;
}

/** Returns a power of two, so that a connection prepares few statements for a table. */
function countPrepared(rowsLeft: number): number {
  return Math.min(maxRowsInserted, 2 ** Math.floor(Math.log2(rowsLeft)));
}

/** Takes a sixth of the CPU time of drizzle's multi-row insert here, and three fifths in Postgres. */
function preparedInsert(
  table: PgTable,
  rows: Record<string, unknown>[],
  onConflict: string | undefined,
): QueryConfig {
  const kind = onConflict === undefined ? "insert" : "upsert";
  const insert = inserts[kind].get(table) ?? new Inserts(table, (number) => `$${number}`, onConflict);
  inserts[kind].set(table, insert);
  const name = `${kind}_${getTableName(table)}_${rows.length}`;
  return { name, text: insert.text(rows.length), values: insert.values(rows) };
}

function primaryKeyColumns(table: PgTable): PgColumn[] {
  const { columns, primaryKeys: composite } = getTableConfig(table);
  return composite[0]?.columns ?? columns.filter((column) => column.primary);
}

function primaryKeyOf(table: PgTable): PgColumn[] {
  const columns = primaryKeys.get(table);
  if (!columns) throw new Error("Only tables of the schema can be locked.");
  return columns;
}
