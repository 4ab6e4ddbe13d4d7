import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client } from "pg";
import type { Scratch } from "../scratch.ts";

/** A database for one run: a file in the scratch directory, or one on a Postgres server. */
export async function createDatabase(
  scratch: Scratch,
  name: string,
  server: string | undefined,
): Promise<string> {
  if (server === undefined) return `file:${join(scratch.dir, `${name}.db`)}`;
  const database = `signalbox_bench_${name}_${randomBytes(4).toString("hex")}`;
  scratch.onClose(() =>
    onServer(server, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`).catch((error: Error) => {
      process.stderr.write(`The database ${database} could not be dropped: ${error.message}\n`);
    }),
  );
  await onServer(server, `CREATE DATABASE ${database}`);
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
