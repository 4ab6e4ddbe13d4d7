import type { Services } from "../../shared/process/services.ts";
import { youngGeneration } from "../node-options.ts";
import { createDatabase } from "../scratch/databases.ts";
import { type Installation, install, withServices } from "../scratch/installation.ts";
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
const limits = {
  API_REQUESTS_PER_MINUTE: unlimited,
  DEVICE_AUTHORIZATIONS_PER_MINUTE: unlimited,
  DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT: unlimited,
};

/**
 * @param options.starter a script that starts the programs: their file is its first argument
 * @param options.seed makes the rows, before the ingress starts
 */
export async function startSignalbox<Seed>(
  scratch: Scratch,
  redis: ScratchRedis,
  options: {
    name: string;
    postgres: string | undefined;
    settings?: Record<string, string>;
    starter?: string | undefined;
    seed: (services: Services, installation: Installation) => Promise<Seed>;
  },
): Promise<Signalbox<Seed>> {
  const { name, postgres, settings, starter } = options;
  const DATABASE_URL = await createDatabase(scratch, name, postgres);
  const given = { ...limits, ...settings, DATABASE_URL, REDIS_PREFIX: name };
  const installation = await install(scratch, redis, given);
  const seed = await withServices(installation, (services) => options.seed(services, installation));
  const start = async (kind: "ingress" | "workers", args: string[], ...ports: number[]) => {
    const metricsPort = await freePort();
    const env = { ...installation.env, METRICS_PORT: String(metricsPort) };
    const [file = "", ...rest] = [...(starter ? [starter] : []), `${kind}/main.ts`, ...args];
    const script = { args: rest, env, nodeOptions: [youngGeneration] };
    const child = scratch.startScript(`${kind}-${name}`, file, script);
    await Promise.all([...ports, metricsPort].map(untilListening));
    return { child, metricsPort };
  };
  const { child: server, metricsPort } = await start("ingress", [], installation.port);
  const pids = { ...pidsOf({ server, Redis: redis }), ...(await findPostgres(postgres)) };
  return {
    ...installation,
    url: installation.env.PUBLIC_URL ?? "",
    seed,
    pids,
    metricsPort,
    async startWorker(...queues) {
      const { child: worker, metricsPort } = await start("workers", queues);
      Object.assign(pids, pidsOf({ worker }));
      return metricsPort;
    },
  };
}
