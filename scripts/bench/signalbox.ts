import type { ChildProcess } from "node:child_process";
import { createDatabase } from "../scratch/databases.ts";
import { type Installation, install } from "../scratch/installation.ts";
import { freePort, untilListening } from "../scratch/ports.ts";
import type { Scratch } from "../scratch/scratch.ts";
import { findPostgres, type Pids, pidsOf } from "./machine/cpu.ts";
import type { ScratchRedis } from "./redis.ts";

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
