import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client } from "pg";
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
