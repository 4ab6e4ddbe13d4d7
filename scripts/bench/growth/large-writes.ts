import { setTimeout as sleep } from "node:timers/promises";
import { and, count, desc, eq, isNotNull } from "drizzle-orm";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { evictPayloads } from "../../../shared/triggers/payloads/payloads.ts";
import { withServices } from "../../scratch/installation.ts";
import { metricOf, readMetrics } from "../../scratch/metrics.ts";
import { step } from "../../scratch/progress.ts";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { addBuilds } from "../builds.ts";
import { type Line, lineOf, type Round } from "../comparison.ts";
import { startGenerator } from "../load/load.ts";
import { postJson } from "../load/request.ts";
import { organization, type Server } from "./servers.ts";

/** One row in ten: as many jobs wait on a queue that is paused. */
const waitingShare = 0.1;
const lookEveryMs = 10;
const patienceMs = 1_800_000;
/** A bound of the histogram of locks: others should wait no longer. */
const maxLockMs = 50;
const webhooks = { connections: 8, perSecond: 100, until: { seconds: 5 } };

interface Measured extends Locks {
  seconds: number;
  /** Milliseconds of webhooks that arrive meanwhile. */
  p50: number;
  p99: number;
}

/** Pauses a queue with many waiting jobs, and evicts all payloads but those of a day, beside webhooks. */
export async function measureLargeWrites(scratch: Scratch, servers: Server[]): Promise<Line<string>[]> {
  const generator = startGenerator(scratch, {});
  const beside = async (server: Server, readLocks: () => Promise<string>, work: () => Promise<void>) => {
    const requests = [postJson(server.seed.deliveryUrl, pushPayload(kilobyte))];
    const before = await readLocks();
    const posted = generator({ ...webhooks, requests, wanted: { status: 201 } });
    const startedAt = performance.now();
    await work();
    const seconds = (performance.now() - startedAt) / 1000;
    const locks = locksBetween(before, await readLocks());
    const { p50, p99 } = await posted;
    return { seconds, ...locks, p50, p99 };
  };
  const pauses: Round<string, Measured> = {};
  const evictions: Round<string, Measured> = {};
  for (const server of servers) {
    const jobs = Math.ceil(server.rows * waitingShare);
    step(`A pause of ${jobs} waiting jobs: ${server.name} rows`);
    const workerPort = await server.startWorker("dispatch");
    await withServices(server, async (services) => {
      await addBuilds(services, server.seed.waitingPipelineId, jobs);
      pauses[server.name] = await beside(
        server,
        () => readMetrics(workerPort),
        () => pause(server, services, jobs),
      );
    });
    step(`An eviction: ${server.name} rows`);
    const env = { ...server.env, PAYLOAD_RETENTION_DAYS: "1" };
    await withServices({ env }, async (services) => {
      evictions[server.name] = await beside(
        server,
        () => services.metrics.registry.metrics(),
        async () => {
          if ((await evictPayloads(services)) === 0) throw new RunFailed("No payload was evicted.");
        },
      );
    });
  }
  return [
    ...linesOf(`pause of a queue, of ${waitingShare} jobs a row: seconds`, pauses),
    ...linesOf("eviction of six days of payloads: seconds", evictions),
  ];
}

function linesOf(title: string, measured: Round<string, Measured>): Line<string>[] {
  return [
    lineOf(title, [measured], ({ seconds }) => seconds),
    lineOf("  transactions", [measured], (locks) => locks.count),
    lineOf("  lock held: mean ms", [measured], ({ meanMs }) => meanMs),
    lineOf("  longest ms, within", [measured], ({ maxMs }) => maxMs),
    lineOf(`  held for more than ${maxLockMs} ms`, [measured], ({ longer }) => longer),
    lineOf("  webhooks beside it: p50 ms", [measured], ({ p50 }) => p50),
    lineOf("  p99 ms", [measured], ({ p99 }) => p99),
  ];
}

/** Resolves once the worker has marked all jobs. */
async function pause({ url, seed }: Server, { db }: Services, waiting: number): Promise<void> {
  const { jobs } = db.tables;
  const [, queue = ""] = seed.queueIds;
  const ofQueue = eq(jobs.queueId, queue);
  const isPaused = isNotNull(jobs.dispatchPausedAt);
  const [last] = await db.select().from(jobs).where(ofQueue).orderBy(desc(jobs.id)).limit(1);
  const lastIfPaused = and(eq(jobs.id, last?.id ?? ""), isPaused);
  const path = pathTo(patterns.pauseDispatch, { org: organization, cluster: seed.clusterId, queue });
  const headers = { Authorization: `Bearer ${seed.apiToken}` };

  const { status } = await fetch(url + path, { method: "POST", headers });
  if (status !== 200) throw new RunFailed(`The pause was answered ${status}.`);
  const deadline = performance.now() + patienceMs;
  while ((await db.select({ id: jobs.id }).from(jobs).where(lastIfPaused)).length === 0) {
    if (performance.now() > deadline) throw new RunFailed("After half an hour some jobs are not paused.");
    await sleep(lookEveryMs);
  }
  const [paused] = await db.select({ total: count() }).from(jobs).where(and(ofQueue, isPaused));
  if ((paused?.total ?? 0) < waiting)
    throw new RunFailed(`The pause came to ${paused?.total} jobs of ${waiting}.`);
}

interface Locks {
  count: number;
  meanMs: number;
  maxMs: number;
  /** Locks of more than `maxLockMs`. */
  longer: number;
}

/** Compares the histogram `signalbox_write_lock_seconds` in two texts of metrics. */
function locksBetween(before: string, after: string): Locks {
  // No line: nothing was locked yet.
  const locked = (metrics: string, name: string) =>
    metricOf(metrics, `signalbox_write_lock_seconds_${name}`) || 0;
  const grown = (name: string) => locked(after, name) - locked(before, name);
  const buckets = [...after.matchAll(/^signalbox_write_lock_seconds_bucket\{le="([^"]+)"/gm)].map(
    ([, bound = ""]) => ({ bound, reached: grown(`bucket{le="${bound}"`) }),
  );
  const total = grown("count{");
  const within = buckets.find(({ reached }) => reached === total)?.bound;
  const short = buckets.find(({ bound }) => Number(bound) === maxLockMs / 1000)?.reached ?? Number.NaN;
  return {
    count: total,
    meanMs: (grown("sum{") / total) * 1000,
    maxMs: Number(within ?? Number.NaN) * 1000,
    longer: total - short,
  };
}
