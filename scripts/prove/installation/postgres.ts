import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../scratch/ports.ts";
import { preparePostgres } from "../../scratch/postgres.ts";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import type { PlannedProcess } from "../../start/procfile.ts";

/** A Postgres server that is planned to run, with its files on the disk. */
export interface PlannedPostgres {
  port: number;
  process: PlannedProcess;
  /** Folder of its programs. */
  bin: string;
  /** Address of the server's own database. */
  url: string;
}

/** @throws RunFailed if Postgres is not installed */
export async function planPostgres(scratch: Scratch, disk: string): Promise<PlannedPostgres> {
  const folder = join(disk, "postgres");
  mkdirSync(folder);
  const opened = new AsyncDisposableStack();
  scratch.onClose(() => opened.disposeAsync());
  const prepared = await preparePostgres(folder, opened);
  if ("missing" in prepared) throw new RunFailed(`There is no Postgres to prove: ${prepared.missing}.`);

  const port = await freePort();
  const { bin, options } = prepared;
  const { uid, gid } = options;
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
  const process: PlannedProcess = {
    name: "postgres",
    kind: "postgres",
    command,
    env: options.env,
    user: { ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) },
  };
  return { port, process, bin, url: `postgres://postgres@127.0.0.1:${port}/postgres` };
}
