import Client from "better-sqlite3";
import { Client as PostgresClient } from "pg";
import { isSqliteUrl, sqliteFile } from "../../../shared/db/open.ts";
import type { Builder } from "./contestants.ts";

/** The hand-made tables have Signalbox's names. */
export interface Counter extends AsyncDisposable {
  /** Number of the pipeline's last build. */
  last(): Promise<number>;
  /** Number of build rows. */
  count(): Promise<number>;
  /** Milliseconds from acceptance to build, after this build number. */
  delays(afterNumber: number): Promise<number[]>;
}

export async function openCounter({ databaseUrl, pipelineId }: Builder["builds"]): Promise<Counter> {
  const { query, close } = await openRows(databaseUrl);
  return {
    last: async () =>
      Number(
        (await query(`select last_build_number as number from pipelines where id = '${pipelineId}'`))[0]
          ?.number,
      ),
    count: async () => Number((await query("select count(*) as number from builds"))[0]?.number),
    async delays(afterNumber) {
      const built = await query(
        `select delivery_id as id, created_at as time from builds where number > ${afterNumber}`,
      );
      return built.map(({ id, time }) => new Date(time as number | Date).getTime() - timeOfId(String(id)));
    },
    [Symbol.asyncDispose]: async () => close(),
  };
}

type Row = Record<string, unknown>;

export interface Rows {
  query(text: string): Promise<Row[]>;
  close(): Promise<void>;
}

/** Reads rows of either database. */
export async function openRows(databaseUrl: string): Promise<Rows> {
  return isSqliteUrl(databaseUrl) ? openSqlite(sqliteFile(databaseUrl)) : openPostgres(databaseUrl);
}

function openSqlite(file: string) {
  const client = new Client(file, { readonly: true });
  const query = async (text: string) => client.prepare<[], Row>(text).all();
  return { query, close: async () => void client.close() };
}

async function openPostgres(url: string) {
  const client = new PostgresClient(url);
  client.on("error", () => {}); // the database is dropped at the end
  await client.connect();
  const query = async (text: string) => (await client.query<Row>(text)).rows;
  return { query, close: () => client.end() };
}

/** A UUIDv7 starts with its time in milliseconds. */
function timeOfId(id: string): number {
  return Number.parseInt(id.replace("-", "").slice(0, 12), 16);
}
