import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Installation as Installed, install, withServices } from "../../scratch/installation.ts";
import { freePort, untilListening } from "../../scratch/ports.ts";
import { baseEnvironment, type Scratch } from "../../scratch/scratch.ts";
import type { PlannedProcess } from "../../start/procfile.ts";
import { openTcpProxy, type TcpProxy } from "../tcp-proxy.ts";
import type { Timeline } from "../timeline.ts";
import { openClocks, openDisk } from "./machine.ts";
import { createProveOrganization, type ProveOrganization } from "./organization.ts";
import { planOwnProcesses, runProcesses } from "./processes.ts";
import { openReceiver } from "./receiver.ts";
import { createDatabase, planPostgres, planRedis } from "./servers.ts";
import { generousSettings } from "./settings.ts";
import { tag } from "./steps.ts";

export type DatabaseName = "sqlite" | "postgres";

/** The part of an installation that callers and the ledger need. */
export interface Reachable {
  /** Leads past the faults of the network. */
  installed: Pick<Installed, "env">;
  organization: ProveOrganization;
  /** Addresses of the ingress processes, or of the proxy before them. */
  urls: string[];
  /** Each command leaves a file in it. */
  marksFolder: string;
  /** The last state of each build that a receiver was told. Undefined: it has none. */
  told?: ReadonlyMap<string, string>;
}

/** A connection of the installation's network, which faults can disturb. */
export interface Link {
  /** Such as `worker.1 → redis`. */
  name: string;
  proxy: TcpProxy;
}

/** All that runs, and how faults reach it. */
export type Installation = Awaited<ReturnType<typeof startInstallation>>;

const ownEnvironment = { ...baseEnvironment, NODE_COMPILE_CACHE: "node_modules/.cache/compile" };
/** The agents of each process. */
const spawn = 3;
/** An agent's queue and tags: two processes serve the first queue, each at an ingress process of its own. */
const queues = ["linux", `linux --tags ${tag}`, "mac"];

/** Installs as an operator does, and starts three ingress processes, two workers and three processes of agents. */
export async function startInstallation(
  scratch: Scratch,
  timeline: Timeline,
  { database, logs }: { database: DatabaseName; logs?: string },
) {
  const disk = openDisk(scratch);
  const clocks = openClocks(scratch);
  const redis = await planRedis(disk.folder);
  const postgres = database === "postgres" ? await planPostgres(scratch, disk.folder) : undefined;
  const started = [redis, ...(postgres ? [postgres] : [])];
  const servers = runProcesses(
    started.map(({ process }) => process),
    timeline,
    logs,
  );
  scratch.onClose(() => servers.stop());
  for (const { port } of started) await untilListening(port);

  const databaseUrl = postgres ? await createDatabase(postgres.url) : `file:${disk.folder}/signalbox.db`;
  const given = { ...generousSettings, DATABASE_URL: databaseUrl, BLOB_URL: `file:${disk.folder}/blobs` };
  const installed = await install(scratch, redis, given);
  const marksFolder = join(scratch.dir, "marks");
  mkdirSync(marksFolder);
  const receiver = await openReceiver(scratch);
  const organization = await withServices(installed, (services) =>
    createProveOrganization(services, marksFolder, receiver.url),
  );

  const links: Link[] = [];
  /** @returns the port that leads through a new link */
  const link = async (name: string, port: number): Promise<number> => {
    const proxy = await openTcpProxy({ host: "127.0.0.1", port });
    scratch.onClose(() => proxy.close());
    links.push({ name, proxy });
    return proxy.port;
  };
  const linkTo = async (name: string, port: number, url: string) =>
    Object.assign(new URL(url), { port: String(await link(name, port)) }).href;

  const own: PlannedProcess[] = [];
  const urls: string[] = [];
  const ports: number[] = [];
  /** By ingress process and worker. */
  const metricsPorts = new Map<string, number>();
  for (const planned of planOwnProcesses()) {
    const { name, kind, command } = planned;
    if (kind === "agent") {
      const index = own.filter((each) => each.kind === "agent").length;
      const url = `http://127.0.0.1:${await link(`${name} → ingress.${index + 1}`, ports[index] ?? 0)}`;
      const folder = join(scratch.dir, name);
      mkdirSync(folder);
      const options = `--queue ${queues[index]} --spawn ${spawn} --name ${name}-%spawn --endpoint ${url}/v3`;
      const env = { ...ownEnvironment, SIGNALBOX_AGENT_TOKEN: organization.agentToken };
      own.push({ ...planned, command: `${command} ${options} --build-path ${folder}`, env });
      continue;
    }
    const [port, metricsPort] = [await freePort(), await freePort()];
    metricsPorts.set(name, metricsPort);
    const env: Record<string, string | undefined> = { ...ownEnvironment, ...installed.env };
    Object.assign(env, { PORT: String(port), METRICS_PORT: String(metricsPort) });
    // Each client has links of its own to the servers.
    env.REDIS_URL = await linkTo(`${name} → redis`, redis.port, redis.url);
    if (postgres) env.DATABASE_URL = await linkTo(`${name} → postgres`, postgres.port, databaseUrl);
    if (kind === "ingress") {
      env.BASE_URL = `http://127.0.0.1:${await link(`client → ${name}`, port)}`; // files of jobs go to this address
      urls.push(env.BASE_URL);
      ports.push(port);
    }
    own.push({ ...planned, env: { ...env, ...clocks.environment(name) } });
  }
  const processes = runProcesses(own, timeline, logs);
  scratch.onClose(() => processes.stop());
  return {
    installed,
    organization,
    disk,
    clocks,
    redis,
    postgres,
    servers,
    processes,
    links,
    urls,
    metricsPorts,
    marksFolder,
    told: receiver.told,
  };
}
