import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { onFreePort } from "../../scripts/scratch/ports.ts";
import { preparePostgres, superuser } from "../../scripts/scratch/postgres.ts";
import { type Program, startServer } from "../../scripts/scratch/programs.ts";
import { type Acquired, reasonOf, requiresAll, Unusable } from "./acquired.ts";
import { startContainer } from "./containers.ts";
import { findMemoryFolder, makeScratchFolder } from "./scratch-folder.ts";

/** Making and dropping a database takes a fifth of the CPU time in memory. All tests need a twentieth of this. */
const roomBytes = 4 * 1024 ** 3;
const answerMs = 3_000;
const containerMs = 30_000;
const ready = /ready to accept connections/;

/** Tries TEST_DATABASE_URL, a container of TEST_POSTGRES_IMAGE, then a private server. */
export async function acquirePostgres(
  env: NodeJS.ProcessEnv,
  opened: AsyncDisposableStack,
): Promise<Acquired> {
  if (env.TEST_DATABASE_URL) return useGiven(env.TEST_DATABASE_URL);

  if (!env.TEST_POSTGRES_IMAGE || env.TEST_CONTAINERS === "off") return startPrivate(opened);

  const container = await startInContainer(env.TEST_POSTGRES_IMAGE, env, opened);
  if ("url" in container) return container;
  if (requiresAll(env))
    throw new Unusable(`TEST_POSTGRES_IMAGE names a Postgres that cannot be used: ${container.missing}.`);

  const own = await startPrivate(opened);
  if ("missing" in own) return { missing: `${container.missing}, and ${own.missing}` };
  return { ...own, because: container.missing };
}

async function useGiven(url: string): Promise<Acquired> {
  try {
    await select1(url);
    return { url, from: "environment" };
  } catch (error) {
    throw new Unusable(`TEST_DATABASE_URL names a Postgres that cannot be used: ${reasonOf(error)}`);
  }
}

async function startInContainer(
  image: string,
  env: NodeJS.ProcessEnv,
  opened: AsyncDisposableStack,
): Promise<Acquired> {
  const environment = { POSTGRES_USER: superuser, POSTGRES_HOST_AUTH_METHOD: "trust" };
  const started = await startContainer({ image, port: 5432, ready, environment }, env, opened);
  if ("failure" in started) return { missing: started.failure };

  // The image says "ready" once too early, during its set-up.
  const url = `postgres://${superuser}@${started.address}/postgres`;
  const deadline = Date.now() + containerMs;
  for (;;) {
    try {
      await select1(url);
      return { url, from: "testcontainers" };
    } catch (error) {
      if (Date.now() > deadline)
        return { missing: `the container of ${image} cannot be reached: ${reasonOf(error)}` };
      await sleep(200);
    }
  }
}

async function startPrivate(opened: AsyncDisposableStack): Promise<Acquired> {
  try {
    const dir = makeScratchFolder("postgres", opened, findMemoryFolder(roomBytes));
    const prepared = await preparePostgres(dir, opened);
    if ("missing" in prepared) return prepared;
    const { bin, options } = prepared;

    const port = await onFreePort(async (free) => {
      await startServer({ ...server(bin, dir, free), options }, ready, opened);
      return free;
    });
    return { url: `postgres://${superuser}@127.0.0.1:${port}/postgres`, from: "private" };
  } catch (error) {
    return { missing: reasonOf(error) };
  }
}

function server(bin: string, dir: string, port: number): Program {
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: dir,
    fsync: "off",
    full_page_writes: "off",
    synchronous_commit: "off",
    shared_buffers: "32MB",
    max_wal_size: "128MB",
    max_connections: 400,
    lc_messages: "C", // `ready` is English
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  // SIGQUIT does not wait for open connections.
  return { command: `${bin}/postgres`, args: ["-D", dir, ...args], stopSignal: "SIGQUIT" };
}

async function select1(url: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
  });
  client.on("error", () => {}); // connect() and query() reject alike
  try {
    await client.connect();
    await client.query("select 1");
  } finally {
    await client.end().catch(() => {});
  }
}
