import { readdirSync, statSync } from "node:fs";
import { asc, isNull } from "drizzle-orm";
import { Redis } from "ioredis";
import { isSqliteUrl, sqliteFile } from "../../../shared/db/open.ts";
import { countRows } from "../../../shared/db/rows.ts";
import { timeOfId } from "../../../shared/ids.ts";
import type { Services } from "../../../shared/services/services.ts";
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
export async function readFigures({ db, clock }: Services, installation: Installation) {
  const { deliveries } = db.tables;
  const { env, databaseUrl } = installation.installed;
  const undecided = db.select({ id: deliveries.id }).from(deliveries).where(isNull(deliveries.status));
  const [oldest] = await undecided.orderBy(asc(deliveries.id)).limit(1);
  const unbuiltMs = oldest ? clock.now().getTime() - timeOfId(oldest.id).getTime() : 0;
  const figures: Sample["figures"] = {
    ...readProcesses(installation),
    ...(await readHeaps(installation)),
    "redis keys": await countKeys(env.REDIS_URL ?? ""),
    ...(await readStorage(databaseUrl)),
    "oldest unbuilt s": Math.max(0, unbuiltMs) / 1000,
  };
  return { deliveries: await countRows(db, deliveries, undefined), figures };
}

/** Memory and descriptors of the servers, ingress processes and workers. Agents are callers. */
function readProcesses({ servers, processes }: Installation): Record<string, number> {
  const all = listProcesses();
  const figures: Record<string, number> = {};
  for (const { names, pidOf } of [servers, processes])
    for (const name of names.filter((each) => !each.startsWith("agent"))) {
      const pids = treeOf(pidOf(name) ?? 0, all).map(({ pid }) => pid);
      // Processes of Postgres share memory.
      const field = name === "postgres" ? "RssAnon" : "VmRSS";
      const total = (figure: (pid: number) => number) => pids.reduce((sum, pid) => sum + figure(pid), 0);
      figures[`${name} MB`] = total((pid) => kilobytesOf(pid, field)) / 1024;
      figures[`${name} descriptors`] = total(countDescriptors);
    }
  return figures;
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
  const { wal, database } = isSqliteUrl(databaseUrl)
    ? sizesOfFiles(sqliteFile(databaseUrl))
    : await onServer(databaseUrl, async (client) => {
        const wal = "(select sum(size) from pg_ls_waldir()) as wal";
        const { rows } = await client.query(
          `select pg_database_size(current_database()) as database, ${wal}`,
        );
        return rows[0];
      });
  return { "WAL MB": Number(wal) / megabyte, "database MB": Number(database) / megabyte };
}

function sizesOfFiles(file: string) {
  const size = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  return { wal: size(`${file}-wal`), database: size(file) };
}
