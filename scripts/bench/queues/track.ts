import { readConfig } from "../../../shared/runtime/config.ts";
import { api } from "../../../shared/urls.ts";
import { freePort } from "../../../test/servers/ports.ts";
import { createDatabase, findPostgres } from "../databases.ts";
import { type Generator, startGenerator } from "../load/load.ts";
import type { Pids } from "../machine/cpu.ts";
import { untilListening } from "../ports.ts";
import { step } from "../progress.ts";
import { ScratchRedis } from "../redis.ts";
import { pidsOf, type Scratch, withScratch } from "../scratch.ts";
import { type Installation, install, withServices } from "../signalbox.ts";
import { type SizeName, sizes } from "./contestants.ts";
import { fill, type Seed } from "./rows.ts";

export interface Server extends Seed {
  name: SizeName;
  installation: Installation;
  /** The REST address of the cluster's queues. */
  queuesUrl: string;
  queueUrl: string;
  /** Their CPU time counts. */
  pids: Pids;
}

export interface Track {
  scratch: Scratch;
  redis: ScratchRedis;
  servers: Server[];
  generator: Generator;
}

/** Unreachable: the bench measures work, not limits. */
const apiRequestsPerMinute = "1000000000";

/** @param postgres allows CREATE DATABASE; undefined: SQLite */
export function withTrack<T>(postgres: string | undefined, work: (track: Track) => Promise<T>): Promise<T> {
  return withScratch(async (scratch) => {
    const redis = await ScratchRedis.start(scratch);
    const servers: Server[] = [];
    for (const name of Object.keys(sizes) as SizeName[])
      servers.push(await startServer(scratch, redis, { name, postgres }));
    return work({ scratch, redis, servers, generator: startGenerator(scratch) });
  });
}

async function startServer(
  scratch: Scratch,
  redis: ScratchRedis,
  { name, postgres }: { name: SizeName; postgres: string | undefined },
): Promise<Server> {
  const { queues, jobs } = sizes[name];
  step(`Making ${queues} queues and ${jobs} jobs on ${postgres ? "Postgres" : "SQLite"}`);
  const installation = await install(scratch, redis, {
    DATABASE_URL: await createDatabase(scratch, name, postgres),
    REDIS_PREFIX: name,
    QUEUES_PER_CLUSTER: String(queues),
    API_REQUESTS_PER_MINUTE: apiRequestsPerMinute,
    PAYLOAD_BYTES_PER_ORGANIZATION: "1", // the eviction takes all
    METRICS_PORT: String(await freePort()),
  });
  const seed = await withServices(installation, (services) => fill(services, sizes[name]));
  const { METRICS_PORT: _, ...env } = installation.env;
  const server = scratch.startScript(`ingress-${name}`, "ingress/main.ts", { env });
  await untilListening(installation.port);

  const { organization: org, clusterId: cluster, queueId: queue } = seed;
  const config = readConfig(installation.env);
  return {
    name,
    installation,
    pids: { ...pidsOf({ server, Redis: redis }), ...(await findPostgres(postgres)) },
    queuesUrl: `${api.cluster(config, org, cluster)}/queues`,
    queueUrl: api.queue(config, { org, cluster, queue }),
    ...seed,
  };
}
