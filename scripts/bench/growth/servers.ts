import { eq } from "drizzle-orm";
import type { Services } from "../../../shared/runtime/services.ts";
import { createDatabase, findPostgres } from "../databases.ts";
import type { Progress } from "../device/contestants.ts";
import { makeCodes } from "../device/signalbox.ts";
import type { Pids } from "../machine/cpu.ts";
import { untilListening } from "../ports.ts";
import { step } from "../progress.ts";
import { ScratchRedis } from "../redis.ts";
import { pidsOf, type Scratch } from "../scratch.ts";
import { type Installation, install, withServices } from "../signalbox.ts";
import { type Base, createBase } from "./base.ts";
import { insertInBulk } from "./bulk.ts";
import { type Inserted, insertRows } from "./rows.ts";

/** An installation with so many rows, and its running ingress. */
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
  /** Starts the worker that makes builds. */
  startWorker(): void;
}

/** Too high to be reached: the bench measures work, not limits. */
const perMinute = "1000000000";

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

  const server = scratch.startScript(`ingress-${name}`, "ingress/main.ts", { env });
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
    startWorker() {
      const worker = scratch.startScript(`worker-${name}`, "workers/main.ts", { args: ["deliveries"], env });
      Object.assign(pids, pidsOf({ worker }));
    },
  };
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
