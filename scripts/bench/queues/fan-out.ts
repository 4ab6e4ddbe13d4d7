import { setTimeout as sleep } from "node:timers/promises";
import { and, count, desc, eq, isNotNull, isNull } from "drizzle-orm";
import type { Services } from "../../../shared/runtime/services.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { perRequest } from "../both-loads.ts";
import { type Line, lineOf } from "../comparison.ts";
import { withCpuTimes } from "../machine/cpu.ts";
import { untilListening } from "../ports.ts";
import { step } from "../progress.ts";
import { interleave } from "../rounds.ts";
import { BenchmarkFailed, pidsOf } from "../scratch.ts";
import { withServices } from "../signalbox.ts";
import { type SizeName, sizes } from "./contestants.ts";
import type { Server, Track } from "./track.ts";
import { locksBetween, maxLock, readWriteLocks } from "./write-locks.ts";

const deliveries = { body: pushPayload(kilobyte), connections: 8, perSecond: 100 };
const lookEveryMs = 10;
/** Enough for half a million jobs on a busy machine. */
const patienceMs = 1_800_000;

/** Measures fan-outs, and webhooks beside them. A small fan-out ends at once: its webhooks are alone. */
export async function measureFanOut(
  { scratch, redis, servers, generator }: Track,
  { rounds, besideSeconds }: { rounds: number; besideSeconds: number },
): Promise<Line<SizeName>[]> {
  step("Starting the workers");
  await redis.prepare("everysec");
  for (const { name, installation, pids } of servers) {
    const start = { args: ["dispatch"], env: installation.env };
    Object.assign(pids, pidsOf({ worker: scratch.startScript(`worker-${name}`, "workers/main.ts", start) }));
  }
  await Promise.all(servers.map(({ installation: { env } }) => untilListening(Number(env.METRICS_PORT))));

  const turn = (server: Server) =>
    withServices(server.installation, async (services) => {
      const posted = generator.pace({ url: server.deliveryUrl, ...deliveries, seconds: besideSeconds });
      const fannedOut = withCpuTimes(server.pids, () => pauseAndResume(server, services));
      const [{ result, cpu }, { p50, p99 }] = await Promise.all([fannedOut, posted]);
      const { worker = Number.NaN } = perRequest(cpu, 2 * sizes[server.name].jobs);
      return { ...result, worker, p50, p99 };
    });
  const results = await interleave(servers, { rounds, what: "Fan-out, round" }, turn);
  const longest = (name: SizeName) => Math.max(...results.map((round) => round[name]?.locks.maxMs ?? 0));
  return [
    lineOf("fan-out of a pause: seconds", results, ({ pausedMs }) => pausedMs / 1000),
    lineOf("  transactions", results, ({ locks }) => locks.count),
    lineOf("  lock held: mean ms", results, ({ locks }) => locks.meanMs),
    // The maximum of all rounds: a median would hide it.
    {
      title: "  lock held: longest ms, within",
      rounds: [{ small: longest("small"), large: longest("large") }],
    },
    {
      title: `  held for more than ${maxLock.ms} ms`,
      rounds: results.map((round) => ({
        small: round.small?.locks.longer ?? 0,
        large: round.large?.locks.longer ?? 0,
      })),
      aims: { large: maxLock.aim },
    },
    lineOf("fan-out of a resumption: seconds", results, ({ resumedMs }) => resumedMs / 1000),
    lineOf("  both: worker, CPU µs a job", results, ({ worker }) => worker),
    lineOf("webhooks beside both: p50 ms", results, ({ p50 }) => p50),
    lineOf("  p99 ms", results, ({ p99 }) => p99),
  ];
}

async function pauseAndResume(server: Server, services: Services) {
  const metricsPort = server.installation.env.METRICS_PORT ?? "";
  const before = await readWriteLocks(metricsPort);
  const pausedMs = await untilFannedOut(server, services, "pause");
  const locks = locksBetween(before, await readWriteLocks(metricsPort));
  const resumedMs = await untilFannedOut(server, services, "resume");
  return { pausedMs, resumedMs, locks };
}

/** @returns milliseconds until the last job shows it */
async function untilFannedOut(server: Server, { db }: Services, action: "pause" | "resume"): Promise<number> {
  const { jobs } = db.tables;
  const isMatched = (action === "pause" ? isNotNull : isNull)(jobs.dispatchPausedAt);
  const ofQueue = eq(jobs.queueId, server.queueId);
  const [last] = await db.select().from(jobs).where(ofQueue).orderBy(desc(jobs.id)).limit(1);
  const lastIsMatched = and(eq(jobs.id, last?.id ?? ""), isMatched);

  const startedAt = performance.now();
  await post(server, action);
  while ((await db.select({ id: jobs.id }).from(jobs).where(lastIsMatched)).length === 0) {
    if (performance.now() - startedAt > patienceMs)
      throw new BenchmarkFailed(`Half an hour after the ${action} it has not come to all jobs.`);
    await sleep(lookEveryMs);
  }
  const tookMs = performance.now() - startedAt;

  const [matched] = await db.select({ total: count() }).from(jobs).where(and(ofQueue, isMatched));
  if (matched?.total !== sizes[server.name].jobs)
    throw new BenchmarkFailed(`The ${action} came to ${matched?.total} jobs of ${sizes[server.name].jobs}.`);
  return tookMs;
}

async function post({ queueUrl, token }: Server, action: "pause" | "resume"): Promise<void> {
  const answer = await fetch(`${queueUrl}/${action}_dispatch`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
  });
  if (answer.status !== 200) throw new BenchmarkFailed(`${action}_dispatch was answered ${answer.status}.`);
}
