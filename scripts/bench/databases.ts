import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client } from "pg";
import type { Pids } from "./machine/cpu.ts";
import { listProcesses } from "./machine/process-tree.ts";
import type { Scratch } from "./scratch.ts";

/** Uses a scratch file or a Postgres server. */
export async function createDatabase(
  scratch: Scratch,
  name: string,
  server: string | undefined,
): Promise<string> {
  if (server === undefined) return `file:${join(scratch.dir, `${name}.db`)}`;
  const database = `signalbox_bench_${name}_${randomBytes(4).toString("hex")}`;
  scratch.onClose(async () => {
    const drop = `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`;
    await onServer(server, (client) => client.query(drop)).catch((error: Error) => {
      process.stderr.write(`The database ${database} could not be dropped: ${error.message}\n`);
    });
  });
  await onServer(server, (client) => client.query(`CREATE DATABASE ${database}`));
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** For its CPU time. Undefined if Postgres runs elsewhere. */
export async function findPostgres(server: string | undefined): Promise<Pids> {
  if (server === undefined) return {};
  return onServer(server, async (client): Promise<Pids> => {
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const backend = listProcesses().find(({ pid, name }) => pid === rows[0]?.pid && name === "postgres");
    return backend ? { Postgres: backend.parentPid } : {};
  });
}

/** Runs `work` with a connection. */
export async function onServer<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on("error", () => {}); // the query rejects, or has its answer
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
