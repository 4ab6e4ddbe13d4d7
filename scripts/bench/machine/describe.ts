import { execFileSync } from "node:child_process";
import { arch, cpus, loadavg, platform, release, totalmem } from "node:os";
import Client from "better-sqlite3";
import { onServer } from "../../scratch/databases.ts";

/** Includes the present load: call before measuring. */
export async function describeMachine(postgres?: string): Promise<string[]> {
  const [cpu] = cpus();
  const gigabytes = Math.round(totalmem() / 1024 ** 3);
  const redis = execFileSync("redis-server", ["--version"], { encoding: "utf8" });
  const sqlite = new Client(":memory:");
  const sqliteVersion = sqlite.prepare("select sqlite_version()").pluck().get();
  sqlite.close();
  return [
    `CPU     ${cpu?.model.trim() ?? "unknown"}, ${cpus().length} cores, ${gigabytes} GB`,
    `Load    ${loadavg()[0]?.toFixed(2)} in the last minute before`,
    `System  ${platform()} ${release()} ${arch()}`,
    `Node    ${process.versions.node}`,
    `Redis   ${/v=(\S+)/.exec(redis)?.[1] ?? redis.trim()}`,
    `SQLite  ${sqliteVersion}`,
    ...(postgres ? [`Postgres ${await postgresVersion(postgres)}`] : []),
  ];
}

function postgresVersion(server: string): Promise<string> {
  return onServer(server, async (client) => {
    const { rows } = await client.query<{ server_version: string }>("SHOW server_version");
    return rows[0]?.server_version ?? "unknown";
  });
}
