import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { freePort } from "../../../test/servers/ports.ts";
import { createDatabase, onServer } from "../databases.ts";
import type { Scratch } from "../scratch.ts";
import type { Parts, Peer } from "./peer.ts";
import { readRows } from "./rows.ts";

/** No key is unique: a job that runs twice has two rows. */
const schema = `create table runs (
  id bigint generated always as identity primary key,
  number integer not null,
  created_at timestamptz not null default now()
)`;

const unfinished = {
  "pg-boss": "select data->>'number' as key from pgboss.job where state < 'completed'",
  "graphile-worker":
    "select payload->>'number' as key from graphile_worker._private_jobs where locked_at is not null or attempts < max_attempts",
};

/** A server and a worker with a queue of Postgres, and rows of runs in the same database. */
export async function preparePostgresQueue(
  scratch: Scratch,
  { programs, postgres }: Parts,
  name: keyof typeof unfinished,
): Promise<Peer> {
  const databaseUrl = await createDatabase(scratch, "peers", postgres);
  await onServer(databaseUrl, (client) => client.query(schema));
  const port = await freePort();
  const token = randomBytes(24).toString("hex");
  const start = (part: string) => () =>
    scratch.startProgram(`${name}-${part}`, process.execPath, {
      args: [join(programs, `${name}-${part}.ts`)],
      env: { DATABASE_URL: databaseUrl, PORT: String(port), TOKEN: token, NO_LOG_SUCCESS: "1" },
    });
  return {
    url: `http://127.0.0.1:${port}/deliver/${token}`,
    port,
    processes: { server: start("server"), worker: start("worker") },
    key: "number",
    ...(await readRows(scratch, databaseUrl, {
      runs: "select number as key from runs",
      unfinished: unfinished[name],
    })),
  };
}
