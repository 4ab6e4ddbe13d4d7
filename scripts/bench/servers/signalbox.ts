import { secondMs } from "../../../shared/durations.ts";
import type { Services } from "../../../shared/services/services.ts";
import { youngGeneration } from "../../node-options.ts";
import { createDatabase } from "../../scratch/databases.ts";
import { type Installation, install, withServices } from "../../scratch/installation.ts";
import { metricOf, readMetrics } from "../../scratch/metrics.ts";
import { freePort, untilListening } from "../../scratch/ports.ts";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import { findPostgres, type Pids } from "../machine/cpu.ts";
import type { ScratchRedis } from "./redis.ts";

/** An installation with its rows and a running ingress. */
export interface Signalbox<Seed> extends Installation {
  /** `http://127.0.0.1:<port>` */
  url: string;
  seed: Seed;
  /** Its processes, whose CPU time counts. */
  pids: Pids & { server: number };
  /** The port of the ingress' metrics. */
  metricsPort: number;
  /** A worker of one queue is named by it. */
  startWorker(...queues: string[]): Promise<void>;
  withServices<T>(work: (services: Services) => Promise<T>): Promise<T>;
}

/** Out of reach: the benches measure work, not limits. */
const unlimited = "1000000";
const limits = {
  API_REQUESTS_PER_MINUTE: unlimited,
  DEVICE_AUTHORIZATIONS_PER_MINUTE: unlimited,
  DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT: unlimited,
  PROVIDER_DELIVERIES_PER_HOUR: unlimited,
  REFRESHES_PER_HOUR: unlimited,
  STACK_CALLS_PER_SECOND: unlimited,
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
    seed: (services: Services) => Promise<Seed>;
  },
): Promise<Signalbox<Seed>> {
  const { name, postgres, settings, starter } = options;
  const DATABASE_URL = await createDatabase(scratch, name, postgres);
  const given = { ...limits, ...settings, DATABASE_URL, REDIS_PREFIX: name };
  const installation = await install(scratch, redis, given);
  const seed = await withServices(installation, options.seed);
  const start = async (kind: "ingress" | "workers", args: string[] = []) => {
    const metricsPort = await freePort();
    const env = { ...installation.env, METRICS_PORT: String(metricsPort) };
    const [file = "", ...rest] = [...(starter ? [starter] : []), `${kind}/main.ts`, ...args];
    const script = { args: rest, env, nodeOptions: [youngGeneration] };
    const { pid = 0 } = scratch.startScript(`${kind}-${name}`, file, script);
    await untilListening(metricsPort);
    return { pid, metricsPort };
  };
  const { pid: server, metricsPort } = await start("ingress");
  await untilListening(installation.port);
  const pids: Signalbox<Seed>["pids"] = { server, Redis: redis.pid, ...(await findPostgres(postgres)) };
  return {
    ...installation,
    url: installation.env.PUBLIC_URL ?? "",
    seed,
    pids,
    metricsPort,
    async startWorker(...queues) {
      const [only = "worker", more] = queues;
      pids[more === undefined ? only : "worker"] = (await start("workers", queues)).pid;
    },
    withServices: (work) => withServices(installation, work),
  };
}

/** The milliseconds of the timer by whose delay Node measures the event loop. */
const loopTimerMs = 10;

/** Returns the longest time for which the event loop stood still since the last call; NaN for a server without metrics. */
export async function takeStallMs({ metricsPort }: { metricsPort?: number }): Promise<number> {
  if (metricsPort === undefined) return Number.NaN;
  const seconds = metricOf(await readMetrics(metricsPort), "nodejs_eventloop_lag_max_seconds");
  if (Number.isNaN(seconds)) throw new RunFailed("The ingress shows no lag of its event loop.");
  return Math.max(0, seconds * secondMs - loopTimerMs);
}
