import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { migrate } from "../../shared/db/migrate.ts";
import { readConfig } from "../../shared/process/config.ts";
import { createLog } from "../../shared/process/log.ts";
import { openServices, type Services } from "../../shared/process/services.ts";
import { freePort } from "../../test/servers/ports.ts";
import { createDatabase, findPostgres } from "./databases.ts";
import type { Pids } from "./machine/cpu.ts";
import { untilListening } from "./ports.ts";
import type { ScratchRedis } from "./redis.ts";
import { pidsOf, type Scratch } from "./scratch.ts";

/** Has default settings, a new database and its request log. */
export interface Installation {
  databaseUrl: string;
  port: number;
  /** Environment of its processes. */
  env: Record<string, string>;
}

/** Starts no process. */
export async function install(
  scratch: Scratch,
  redis: Pick<ScratchRedis, "url">,
  settings: Record<string, string> = {},
): Promise<Installation> {
  const port = await freePort();
  const env = {
    HOST: "127.0.0.1",
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: `file:${join(scratch.dir, "signalbox.db")}`,
    REDIS_URL: redis.url,
    SECRET_KEY: randomBytes(24).toString("hex"),
    LOG_LEVEL: "info",
    ...settings,
  };
  const { databaseUrl } = readConfig(env);
  await migrate(databaseUrl);
  return { databaseUrl, port, env };
}

/** Opens services as the operator's command does. */
export async function withServices<T>(
  { env }: Pick<Installation, "env">,
  work: (services: Services) => Promise<T>,
): Promise<T> {
  const log = createLog({ level: "silent", process: "bench" }, { write: () => {} });
  const services = openServices({ config: readConfig(env), log });
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

/** An installation with its rows and a running ingress. */
export interface Signalbox<Seed> extends Installation {
  /** `http://127.0.0.1:<port>` */
  url: string;
  seed: Seed;
  /** Its processes, whose CPU time counts. */
  pids: Pids;
  /** The port of the ingress' metrics. */
  metricsPort: number;
  /** Starts a worker, and returns the port of its metrics. */
  startWorker(...queues: string[]): Promise<number>;
}

/** Out of reach: the benches measure work, not limits. */
const unlimited = "1000000";
export const limits = {
  API_REQUESTS_PER_MINUTE: unlimited,
  DEVICE_AUTHORIZATIONS_PER_MINUTE: unlimited,
  DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT: unlimited,
};

/** @param seed makes the rows, before the ingress starts */
export async function startSignalbox<Seed>(
  scratch: Scratch,
  redis: ScratchRedis,
  {
    name,
    postgres,
    settings = limits,
    seed: makeSeed,
  }: {
    name: string;
    postgres: string | undefined;
    settings?: Record<string, string>;
    seed: (installation: Installation) => Promise<Seed>;
  },
): Promise<Signalbox<Seed>> {
  const DATABASE_URL = await createDatabase(scratch, name, postgres);
  const installation = await install(scratch, redis, { ...settings, DATABASE_URL, REDIS_PREFIX: name });
  const seed = await makeSeed(installation);
  const start = async (kind: string, args: string[], ports: number[]): Promise<[ChildProcess, number]> => {
    const metricsPort = await freePort();
    const env = { ...installation.env, METRICS_PORT: String(metricsPort) };
    const file = `${kind === "ingress" ? "ingress" : "workers"}/main.ts`;
    const child = scratch.startScript(`${kind}-${name}`, file, { args, env });
    await Promise.all([...ports, metricsPort].map(untilListening));
    return [child, metricsPort];
  };
  const [server, metricsPort] = await start("ingress", [], [installation.port]);
  const pids = { ...pidsOf({ server, Redis: redis }), ...(await findPostgres(postgres)) };
  return {
    ...installation,
    url: `http://127.0.0.1:${installation.port}`,
    seed,
    pids,
    metricsPort,
    async startWorker(...queues) {
      const [worker, port] = await start("worker", queues, []);
      Object.assign(pids, pidsOf({ worker }));
      return port;
    },
  };
}
