import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findProgram, redisPrograms } from "../../find-program.ts";
import { onServer } from "../../scratch/databases.ts";
import { type Installation as Installed, install, withServices } from "../../scratch/installation.ts";
import { freePort, untilListening } from "../../scratch/ports.ts";
import { baseEnvironment, RunFailed, type Scratch } from "../../scratch/scratch.ts";
import type { PlannedProcess } from "../../start/procfile.ts";
import type { Timeline } from "../timeline.ts";
import { planAgent } from "./agents.ts";
import { type Clocks, openClocks } from "./clocks.ts";
import { type Disk, openDisk } from "./disk.ts";
import { type Link, openLink, urlThrough } from "./links.ts";
import { createProveOrganization, type ProveOrganization } from "./organization.ts";
import { type PlannedPostgres, planPostgres } from "./postgres.ts";
import { type ProveProcesses, planOwnProcesses, runProcesses } from "./processes.ts";
import { type PlannedRedis, planRedis } from "./redis.ts";
import { generousSettings } from "./settings.ts";

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
}

/** All that runs, and how faults reach it. */
export interface Installation extends Reachable {
  database: DatabaseName;
  /** Its own settings lead past the links. */
  installed: Installed;
  disk: Disk;
  clocks: Clocks;
  redis: PlannedRedis;
  postgres: PlannedPostgres | undefined;
  servers: ProveProcesses;
  processes: ProveProcesses;
  links: Link[];
  /** By ingress process and worker. */
  metricsPorts: Map<string, number>;
}

export interface InstallationOptions {
  database: DatabaseName;
  timeline: Timeline;
  logs: string | undefined;
  bundle: string | undefined;
}

const maxTries = 50;
const retryMs = 200;
const ownEnvironment = { ...baseEnvironment, NODE_COMPILE_CACHE: "node_modules/.cache/compile" };

/** Installs as an operator does, and starts three ingress processes, two workers and three processes of agents. */
export async function startInstallation(
  scratch: Scratch,
  { database, timeline, logs, bundle }: InstallationOptions,
): Promise<Installation> {
  const disk = openDisk(scratch);
  const clocks = openClocks(scratch);
  const redis = await planRedis(disk.folder, requireRedis());
  const postgres = database === "postgres" ? await planPostgres(scratch, disk.folder) : undefined;
  const planned = [redis.process, ...(postgres ? [postgres.process] : [])];
  const servers = runProcesses(planned, timeline, logs);
  scratch.onClose(() => servers.stop());
  await untilListening(redis.port);
  if (postgres) await untilListening(postgres.port);

  const databaseUrl = postgres ? await createDatabase(postgres) : `file:${disk.folder}/signalbox.db`;
  const redisUrl = `redis://127.0.0.1:${redis.port}`;
  const installed = await install(
    scratch,
    { url: redisUrl },
    { ...generousSettings, DATABASE_URL: databaseUrl, BLOB_URL: `file:${disk.folder}/blobs` },
  );
  const marksFolder = join(scratch.dir, "marks");
  mkdirSync(marksFolder);
  const organization = await withServices(installed, (services) =>
    createProveOrganization(services, marksFolder),
  );

  const links: Link[] = [];
  const link = async (name: string, port: number) => {
    const opened = await openLink(scratch, name, port);
    links.push(opened);
    return opened;
  };
  /** Each client has links of its own to the servers. */
  const environmentOf = async (name: string) => ({
    ...installed.env,
    REDIS_URL: urlThrough(await link(`${name} → redis`, redis.port), redisUrl),
    ...(postgres && {
      DATABASE_URL: urlThrough(await link(`${name} → postgres`, postgres.port), databaseUrl),
    }),
  });
  const own: PlannedProcess[] = [];
  const urls: string[] = [];
  const ports: number[] = [];
  const metricsPorts = new Map<string, number>();
  const plans = planOwnProcesses(bundle);
  for (const process of plans.filter(({ kind }) => kind !== "agent")) {
    const port = await freePort();
    const metricsPort = await freePort();
    metricsPorts.set(process.name, metricsPort);
    const listening = { PORT: String(port), METRICS_PORT: String(metricsPort) };
    const env = { ...ownEnvironment, ...(await environmentOf(process.name)), ...listening };
    const isIngress = process.kind === "ingress";
    const front = isIngress ? await link(`client → ${process.name}`, port) : undefined;
    const url = front && `http://127.0.0.1:${front.proxy.port}`;
    const named = url === undefined ? {} : { BASE_URL: url }; // files of jobs go to this address
    own.push({ ...process, env: { ...env, ...named, ...clocks.environment(process.name) } });
    if (url === undefined) continue;
    urls.push(url);
    ports.push(port);
  }
  for (const [index, process] of plans.filter(({ kind }) => kind === "agent").entries()) {
    const way = await link(`${process.name} → ingress.${index + 1}`, ports[index] ?? 0);
    const url = `http://127.0.0.1:${way.proxy.port}`;
    const { agentToken: token } = organization;
    own.push(planAgent({ ...process, env: ownEnvironment }, { index, url, token, folder: scratch.dir }));
  }
  const processes = runProcesses(own, timeline, logs);
  scratch.onClose(() => processes.stop());
  return {
    ...{ database, installed, organization, disk, clocks, redis, postgres },
    ...{ servers, processes, links, urls, metricsPorts, marksFolder },
  };
}

function requireRedis(): string {
  const program = findProgram(redisPrograms);
  if (!program) throw new RunFailed("There is no redis-server or valkey-server on the PATH.");
  return program;
}

async function createDatabase({ url }: PlannedPostgres): Promise<string> {
  const create = () => onServer(url, (client) => client.query("CREATE DATABASE signalbox"));
  for (let tries = 1; ; tries++) {
    const error = await create().catch((error: Error) => error);
    if (!(error instanceof Error)) break;
    if (tries === maxTries) throw error;
    await sleep(retryMs); // it listens before it is ready
  }
  return Object.assign(new URL(url), { pathname: "/signalbox" }).href;
}
