import { readdirSync, statSync } from "node:fs";
import { asc, eq, isNull, sum } from "drizzle-orm";
import { Redis } from "ioredis";
import { Client } from "pg";
import { isSqliteUrl, sqliteFile } from "../../../shared/db/open.ts";
import { timeOfId } from "../../../shared/ids.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { megabyte } from "../bodies.ts";
import { kilobytesOf, listProcesses, treeOf } from "../machine/process-tree.ts";
import type { Soaked } from "./installation.ts";

export type PhaseName = "steady" | "flood";

export interface Sample {
  seconds: number;
  phase: PhaseName;
  /** Accepted so far. */
  deliveries: number;
  /** By column, such as `ingress MB`. */
  figures: Record<string, number>;
}

export interface Sampler extends AsyncDisposable {
  read(): Promise<Sample["figures"]>;
  countUnbuilt(): Promise<number>;
}

/** Reads what the operating system, Redis and the database say. */
export async function openSampler({ db, clock }: Services, soaked: Soaked): Promise<Sampler> {
  const redis = new Redis(soaked.redisUrl);
  const storage = await openStorage(soaked.installation.databaseUrl);
  const { deliveries, payloads } = db.tables;
  const waiting = isNull(deliveries.status);

  const oldestUnbuilt = async () => {
    const [oldest] = await db
      .select({ id: deliveries.id })
      .from(deliveries)
      .where(waiting)
      .orderBy(asc(deliveries.id))
      .limit(1);
    return oldest ? Math.max(0, clock.now().getTime() - timeOfId(oldest.id).getTime()) / 1000 : 0;
  };
  const payloadBytes = async () => {
    const [row] = await db.offLoop
      .select({ bytes: sum(payloads.size).mapWith(Number) })
      .from(payloads)
      .where(eq(payloads.organizationId, soaked.organizationId));
    return row?.bytes ?? 0;
  };

  return {
    async read() {
      return {
        ...readProcesses(soaked),
        ...(await readHeaps(soaked)),
        "Redis keys": await redis.dbsize(),
        "WAL MB": (await storage.logBytes()) / megabyte,
        "database MB": (await storage.databaseBytes()) / megabyte,
        "payloads MB": (await payloadBytes()) / megabyte,
        "oldest unbuilt s": await oldestUnbuilt(),
      };
    },
    countUnbuilt: async () => (await db.select({ id: deliveries.id }).from(deliveries).where(waiting)).length,
    async [Symbol.asyncDispose]() {
      redis.disconnect();
      await storage.close();
    },
  };
}

function readProcesses({ pids }: Soaked): Record<string, number> {
  const all = listProcesses();
  const figures = Object.entries(pids).map(([name, pid]) => {
    const tree = treeOf(pid, all);
    // Processes of Postgres share memory.
    const field = name === "Postgres" ? "RssAnon" : "VmRSS";
    const total = (figure: (pid: number) => number) =>
      tree.reduce((sum, process) => sum + figure(process.pid), 0);
    return {
      [`${name} MB`]: total((each) => kilobytesOf(each, field)) / 1024,
      [`${name} descriptors`]: total(countDescriptors),
    };
  });
  return Object.assign({}, ...figures);
}

/** Memory that V8 uses, with the buffers outside of its heap. It keeps more than it uses. */
async function readHeaps({ metricsPorts }: Soaked): Promise<Record<string, number>> {
  const heaps = Object.entries(metricsPorts).map(async ([name, port]) => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const bytesOf = (metric: string) => Number(new RegExp(`^${metric}\\{.*\\} (\\S+)`, "m").exec(text)?.[1]);
    const bytes = bytesOf("nodejs_heap_size_used_bytes") + bytesOf("nodejs_external_memory_bytes");
    return [`${name} heap MB`, bytes / megabyte];
  });
  return Object.fromEntries(await Promise.all(heaps));
}

function countDescriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0; // it has ended
  }
}

interface Storage {
  databaseBytes(): Promise<number>;
  /** The size of the write-ahead log. */
  logBytes(): Promise<number>;
  close(): Promise<void>;
}

async function openStorage(databaseUrl: string): Promise<Storage> {
  if (isSqliteUrl(databaseUrl)) {
    const file = sqliteFile(databaseUrl);
    const size = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
    return {
      databaseBytes: async () => size(file),
      logBytes: async () => size(`${file}-wal`),
      close: async () => {},
    };
  }
  const client = new Client(databaseUrl);
  client.on("error", () => {}); // the query rejects
  await client.connect();
  const bytes = async (expression: string) =>
    Number((await client.query<{ bytes: string }>(`select ${expression} as bytes`)).rows[0]?.bytes);
  return {
    databaseBytes: () => bytes("pg_database_size(current_database())"),
    logBytes: () => bytes("(select sum(size) from pg_ls_waldir())"),
    close: () => client.end(),
  };
}
