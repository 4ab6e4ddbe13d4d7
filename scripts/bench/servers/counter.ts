import Client from "better-sqlite3";
import { Client as PostgresClient } from "pg";
import { isSqliteUrl, sqliteFile } from "../../../shared/db/open.ts";
import { timeOfId } from "../../../shared/ids.ts";
import { RunFailed } from "../../scratch/scratch.ts";
import { isSoon } from "../../scratch/wait.ts";
import { cpuPerRequest, type Pids } from "../machine/cpu.ts";

type Row = Record<string, unknown>;

const lookEveryMs = 2;
const patienceMs = 60_000;

/** Watches the builds of a pipeline. The hand-made tables have Signalbox's names. */
export async function openCounter(databaseUrl: string, pipelineId: string) {
  const { query, close } = isSqliteUrl(databaseUrl)
    ? openSqlite(sqliteFile(databaseUrl))
    : await openPostgres(databaseUrl);
  const numberOf = async (text: string) => Number((await query(text))[0]?.number);
  const last = () => numberOf(`select last_build_number as number from pipelines where id = '${pipelineId}'`);
  return {
    /** Returns the number of the last build. */
    last,
    /** Waits until this build exists. */
    async untilLast(wanted: number): Promise<void> {
      const times = { everyMs: lookEveryMs, withinMs: patienceMs };
      if (!(await isSoon(async () => (await last()) >= wanted, times)))
        throw new RunFailed(`${wanted - (await last())} deliveries have no build after a minute.`);
    },
    /** Counts the rows of builds. */
    count: () => numberOf(`select count(*) as number from builds where pipeline_id = '${pipelineId}'`),
    /** Returns milliseconds from acceptance to build, sorted, after this build number. */
    async delays(afterNumber: number): Promise<number[]> {
      const where = `pipeline_id = '${pipelineId}' and number > ${afterNumber}`;
      const built = await query(`select delivery_id as id, created_at as time from builds where ${where}`);
      const delayOf = ({ id, time }: Row) =>
        new Date(time as number | Date).getTime() - timeOfId(String(id)).getTime();
      return built.map(delayOf).sort((a, b) => a - b);
    },
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}

/** A server whose worker makes builds. */
export interface Builder {
  pids: Pids;
  databaseUrl: string;
  pipelineId: string;
}

/**
 * Posts deliveries, and waits for their builds.
 * @param finish waits for what builds leave to do: it takes no part of the time, but its CPU time counts
 */
export async function measureBuilds(
  { pids, databaseUrl, pipelineId }: Builder,
  post: () => Promise<{ accepted: number }>,
  finish?: (builds: number) => Promise<void>,
) {
  await using counter = await openCounter(databaseUrl, pipelineId);
  const before = await counter.last();
  const startedAt = performance.now();
  const done = await cpuPerRequest(pids, async () => {
    const { accepted } = await post();
    await counter.untilLast(before + accepted);
    const seconds = (performance.now() - startedAt) / 1000;
    await finish?.(accepted);
    return { accepted, seconds };
  });
  if ((await counter.count()) !== before + done.accepted)
    throw new RunFailed("There are not as many builds as numbers.");
  return { ...done, delays: await counter.delays(before) };
}

function openSqlite(file: string) {
  const client = new Client(file, { readonly: true });
  const query = async (text: string) => client.prepare<[], Row>(text).all();
  return { query, close: () => client.close() };
}

async function openPostgres(url: string) {
  const client = new PostgresClient(url);
  client.on("error", () => {}); // the database is dropped at the end
  await client.connect();
  const query = async (text: string) => (await client.query<Row>(text)).rows;
  return { query, close: () => client.end() };
}
