import { eq } from "drizzle-orm";
import { secondMs } from "../../../shared/durations.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { freePort } from "../../../test/servers/ports.ts";
import { createDatabase, findPostgres } from "../databases.ts";
import type { Progress } from "../device/contestants.ts";
import { makeCodes } from "../device/signalbox.ts";
import type { Pids } from "../machine/cpu.ts";
import { untilListening } from "../ports.ts";
import { step } from "../progress.ts";
import { ScratchRedis } from "../redis.ts";
import { BenchmarkFailed, pidsOf, type Scratch } from "../scratch.ts";
import { type Installation, install, withServices } from "../signalbox.ts";
import { type Base, createBase } from "./base.ts";
import { insertInBulk } from "./bulk.ts";
import { type Inserted, insertRows } from "./rows.ts";

/** An installation with a number of rows, and its running ingress. */
export interface Server {
  /** The number of rows, as a contestant's name. */
  name: string;
  rows: number;
  installation: Installation;
  base: Base;
  inserted: Inserted;
  /** Its processes, whose CPU time counts. */
  pids: Pids;
  makeCodes(progress: Progress, count: number): Promise<string[]>;
  /** Returns the longest time for which the event loop of the ingress stood still since the last call. */
  takeStallMs(): Promise<number>;
  /** Starts the worker that makes builds. */
  startWorker(): void;
}

/** Too high to be reached: the bench measures work, not limits. */
const perMinute = "1000000000";
/** The milliseconds of the timer by whose delay Node measures the event loop. */
const loopTimerMs = 10;

export async function startServers(
  scratch: Scratch,
  { rows, postgres }: { rows: number[]; postgres: string | undefined },
): Promise<Server[]> {
  const redis = await ScratchRedis.start(scratch);
  const servers: Server[] = [];
  for (const count of rows) servers.push(await startServer(scratch, redis, { rows: count, postgres }));
  return servers;
}

async function startServer(
  scratch: Scratch,
  redis: ScratchRedis,
  { rows, postgres }: { rows: number; postgres: string | undefined },
): Promise<Server> {
  const name = String(rows);
  const installation = await install(scratch, redis, {
    DATABASE_URL: await createDatabase(scratch, name, postgres),
    REDIS_PREFIX: `rows-${name}`,
    API_REQUESTS_PER_MINUTE: perMinute,
    DEVICE_AUTHORIZATIONS_PER_MINUTE: perMinute,
    DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT: perMinute,
  });
  const { env, port, databaseUrl } = installation;
  const base = await withServices(installation, createBase);
  step(`Making ${rows.toLocaleString("en")} rows`);
  const inserted = await insertInBulk(databaseUrl, (bulk) => insertRows(bulk, base, rows));
  await withServices(installation, (services) => setLastNumbers(services, base, inserted));

  const metricsPort = await freePort();
  const server = scratch.startScript(`ingress-${name}`, "ingress/main.ts", {
    env: { ...env, METRICS_PORT: String(metricsPort) },
  });
  await untilListening(port);
  const pids = { ...pidsOf({ server }), ...(await findPostgres(postgres)) };
  return {
    name,
    rows,
    installation,
    base,
    inserted,
    pids,
    makeCodes: (progress, count) =>
      withServices(installation, (services) => makeCodes(services, base, { progress, count })),
    takeStallMs: () => takeStallMs(metricsPort),
    startWorker() {
      const worker = scratch.startScript(`worker-${name}`, "workers/main.ts", { args: ["deliveries"], env });
      Object.assign(pids, pidsOf({ worker }));
    },
  };
}

/** Reading the metrics begins a new measurement. */
async function takeStallMs(metricsPort: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const seconds = Number(/^nodejs_eventloop_lag_max_seconds\S* (\S+)$/m.exec(metrics)?.[1]);
  if (Number.isNaN(seconds)) throw new BenchmarkFailed("The ingress shows no lag of its event loop.");
  return Math.max(0, seconds * secondMs - loopTimerMs);
}

async function setLastNumbers({ db }: Services, base: Base, inserted: Inserted): Promise<void> {
  await db.transaction(async (tx) => {
    const { pipelines } = tx.tables;
    for (const [place, id] of base.pipelines.entries()) {
      const lastBuildNumber = inserted.lastBuildNumbers[place] ?? 0;
      await tx.update(pipelines).set({ lastBuildNumber }).where(eq(pipelines.id, id));
    }
  });
}
