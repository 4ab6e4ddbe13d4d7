import { readdirSync, statSync } from "node:fs";
import { asc, isNull, sql } from "drizzle-orm";
import { Redis } from "ioredis";
import { isSqliteUrl, sqliteFile } from "../../../shared/db/open.ts";
import { timeOfId } from "../../../shared/ids.ts";
import type { Services } from "../../../shared/process/services.ts";
import { megabyte } from "../../bench/bodies.ts";
import { onServer } from "../../scratch/databases.ts";
import { metricOf, readMetrics } from "../../scratch/metrics.ts";
import { kilobytesOf, listProcesses, treeOf } from "../../scratch/process-tree.ts";
import type { Installation } from "../installation/installation.ts";

export interface Sample {
  seconds: number;
  /** Accepted so far. */
  deliveries: number;
  /** By column, such as `ingress.1 MB`. */
  figures: Record<string, number>;
}

/** Reads what the operating system, Redis and the database say. */
export async function readFigures(
  { db, clock }: Services,
  installation: Installation,
): Promise<Pick<Sample, "deliveries" | "figures">> {
  const { deliveries } = db.tables;
  const [oldest] = await db
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(isNull(deliveries.status))
    .orderBy(asc(deliveries.id))
    .limit(1);
  const [all] = await db.select({ total: sql<number>`count(*)`.mapWith(Number) }).from(deliveries);
  const unbuiltMs = oldest ? clock.now().getTime() - timeOfId(oldest.id).getTime() : 0;
  const figures = {
    ...readProcesses(installation),
    ...(await readHeaps(installation)),
    "redis keys": await countKeys(installation.installed.env.REDIS_URL ?? ""),
    ...(await readStorage(installation.installed.databaseUrl)),
    "oldest unbuilt s": Math.max(0, unbuiltMs) / 1000,
  };
  return { deliveries: all?.total ?? 0, figures };
}

/** Memory and descriptors of the servers, ingress processes and workers. Agents are callers. */
function readProcesses({ servers, processes }: Installation): Record<string, number> {
  const all = listProcesses();
  const own = processes.names.filter((name) => !name.startsWith("agent"));
  const pids = [
    ...servers.names.map((name) => [name, servers.pidOf(name)] as const),
    ...own.map((name) => [name, processes.pidOf(name)] as const),
  ];
  const figures = pids.map(([name, pid]) => {
    const tree = treeOf(pid ?? 0, all);
    // Processes of Postgres share memory.
    const field = name === "postgres" ? "RssAnon" : "VmRSS";
    const total = (figure: (pid: number) => number) =>
      tree.reduce((sum, process) => sum + figure(process.pid), 0);
    return {
      [`${name} MB`]: total((each) => kilobytesOf(each, field)) / 1024,
      [`${name} descriptors`]: total(countDescriptors),
    };
  });
  return Object.assign({}, ...figures);
}

function countDescriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0; // it has ended
  }
}

/** Memory that V8 uses, with the buffers outside of its heap. It keeps more than it uses. */
async function readHeaps({ metricsPorts }: Installation): Promise<Record<string, number>> {
  const heaps = [...metricsPorts].map(async ([name, port]) => {
    const metrics = await readMetrics(port);
    const bytesOf = (name: string) => metricOf(metrics, `${name}{`);
    const bytes = bytesOf("nodejs_heap_size_used_bytes") + bytesOf("nodejs_external_memory_bytes");
    return [`${name} heap MB`, bytes / megabyte];
  });
  return Object.fromEntries(await Promise.all(heaps));
}

async function countKeys(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    return await redis.dbsize();
  } finally {
    redis.disconnect();
  }
}

/** The sizes of the database and of its write-ahead log. */
async function readStorage(databaseUrl: string): Promise<Record<string, number>> {
  if (!isSqliteUrl(databaseUrl))
    return onServer(databaseUrl, async (client) => {
      const bytes =
        "pg_database_size(current_database()) as database, (select sum(size) from pg_ls_waldir()) as wal";
      const { rows } = await client.query<{ database: string; wal: string }>(`select ${bytes}`);
      return {
        "WAL MB": Number(rows[0]?.wal) / megabyte,
        "database MB": Number(rows[0]?.database) / megabyte,
      };
    });
  const file = sqliteFile(databaseUrl);
  const size = (name: string) => (statSync(name, { throwIfNoEntry: false })?.size ?? 0) / megabyte;
  return { "WAL MB": size(`${file}-wal`), "database MB": size(file) };
}
