import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { findProgram, redisPrograms } from "../../find-program.ts";
import { onServer } from "../../scratch/databases.ts";
import { freePort } from "../../scratch/ports.ts";
import { preparePostgres } from "../../scratch/postgres.ts";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import { isSoon } from "../../scratch/wait.ts";
import type { PlannedProcess } from "../../start/procfile.ts";

const createWithin = { everyMs: 200, withinMs: 10_000 };

/** Plans a Redis with its files in a folder of the disk. @throws RunFailed if Redis is not installed */
export async function planRedis(disk: string) {
  const program = findProgram(redisPrograms);
  if (!program) throw new RunFailed("There is no redis-server or valkey-server on the PATH.");
  const port = await freePort();
  const folder = join(disk, "redis");
  mkdirSync(folder);
  const storing = "--appendonly yes --appendfsync everysec --maxmemory-policy noeviction";
  const command = `exec ${program} --bind 127.0.0.1 --port ${port} --dir ${folder} --save '""' ${storing}`;
  const process: PlannedProcess = { name: "redis", kind: "redis", command };
  return {
    port,
    process,
    url: `redis://127.0.0.1:${port}`,
    /** Deletes its files. */
    loseData: () => rmSync(join(folder, "appendonlydir"), { recursive: true, force: true }),
    /** Runs a command over a connection of its own. @throws Error while Redis is away */
    async command(name: string, ...args: string[]): Promise<unknown> {
      const times = { connectTimeout: 2000, commandTimeout: 2000 };
      const redis = new Redis(port, "127.0.0.1", { lazyConnect: true, ...times, retryStrategy: () => null });
      redis.on("error", () => {}); // the command rejects
      try {
        await redis.connect();
        return await redis.call(name, ...args);
      } finally {
        redis.disconnect();
      }
    },
  };
}

/** Plans a Postgres server with its files on the disk. @throws RunFailed if Postgres is not installed */
export async function planPostgres(scratch: Scratch, disk: string) {
  const folder = join(disk, "postgres");
  mkdirSync(folder);
  const opened = new AsyncDisposableStack();
  scratch.onClose(() => opened.disposeAsync());
  const prepared = await preparePostgres(folder, opened);
  if ("missing" in prepared) throw new RunFailed(`There is no Postgres to prove: ${prepared.missing}.`);
  const { bin, options } = prepared;
  const { env, uid, gid } = options;
  const port = await freePort();
  // The defaults of durability stay: a commit must outlive the server.
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: folder,
    max_connections: 300, // silent connections stay for a while
    max_wal_size: "256MB",
    shared_buffers: "64MB",
  };
  const args = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const command = `exec ${bin}/postgres -D ${folder} ${args.join(" ")}`;
  const process: PlannedProcess = { name: "postgres", kind: "postgres", command, env, user: { uid, gid } };
  /** Address of the server's own database. */
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return { port, process, bin, url };
}

/** It listens before it is ready. @returns the address of a new database */
export async function createDatabase(url: string): Promise<string> {
  let problem: unknown;
  const create = () => onServer(url, (client) => client.query("CREATE DATABASE signalbox"));
  const isCreated = () =>
    create().then(
      () => true,
      (error) => {
        problem = error;
        return false;
      },
    );
  if (!(await isSoon(isCreated, createWithin))) throw problem;
  return Object.assign(new URL(url), { pathname: "/signalbox" }).href;
}
