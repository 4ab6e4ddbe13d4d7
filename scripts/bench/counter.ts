import { setTimeout as sleep } from "node:timers/promises";
import Client from "better-sqlite3";
import { Client as PostgresClient } from "pg";
import { isSqliteUrl, sqliteFile } from "../../shared/db/open.ts";
import { timeOfId } from "../../shared/ids.ts";
import { RunFailed } from "../scratch/scratch.ts";

/** Watches the builds of a pipeline. The hand-made tables have Signalbox's names. */
export interface Counter extends AsyncDisposable {
  /** Number of the last build. */
  last(): Promise<number>;
  /** Waits until this build exists. */
  untilLast(number: number): Promise<void>;
  /** Number of build rows. */
  count(): Promise<number>;
  /** Milliseconds from acceptance to build, sorted, after this build number. */
  delays(afterNumber: number): Promise<number[]>;
}

type Row = Record<string, unknown>;

const lookEveryMs = 2;
const patienceMs = 60_000;

export async function openCounter(databaseUrl: string, pipelineId: string): Promise<Counter> {
  const { query, close } = isSqliteUrl(databaseUrl)
    ? openSqlite(sqliteFile(databaseUrl))
    : await openPostgres(databaseUrl);
  const numberOf = async (text: string) => Number((await query(text))[0]?.number);
  const last = () => numberOf(`select last_build_number as number from pipelines where id = '${pipelineId}'`);
  return {
    last,
    async untilLast(wanted) {
      const deadline = performance.now() + patienceMs;
      for (let now = await last(); now < wanted; now = await last()) {
        if (performance.now() > deadline)
          throw new RunFailed(`${wanted - now} deliveries have no build after a minute.`);
        await sleep(lookEveryMs);
      }
    },
    count: () => numberOf("select count(*) as number from builds"),
    async delays(afterNumber) {
      const built = await query(
        `select delivery_id as id, created_at as time from builds where number > ${afterNumber}`,
      );
      const delays = built.map(
        ({ id, time }) => new Date(time as number | Date).getTime() - timeOfId(String(id)).getTime(),
      );
      return delays.sort((a, b) => a - b);
    },
    [Symbol.asyncDispose]: async () => close(),
  };
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
