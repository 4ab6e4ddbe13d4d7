import { dayMs, hourMs, minuteMs } from "../../../shared/durations.ts";
import { newId } from "../../../shared/ids.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { evictPayloads } from "../../../shared/triggers/payloads/payloads.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { type Line, lineOf } from "../comparison.ts";
import { newDelivery, newPayload } from "../growth/rows.ts";
import { step } from "../progress.ts";
import { BenchmarkFailed } from "../scratch.ts";
import { withServices } from "../signalbox.ts";
import { type SizeName, sizes } from "./contestants.ts";
import type { Server, Track } from "./track.ts";
import { locksBetween, maxLock, parseWriteLocks } from "./write-locks.ts";

const rowsAtOnce = 1000;
const ageMs = dayMs / 2;

/** Makes as many payloads as jobs, evicts them all in this process, and lets webhooks arrive meanwhile. */
export async function measureEviction(
  { servers, generator }: Track,
  { besideSeconds }: { besideSeconds: number },
): Promise<Line<SizeName>[]> {
  const found: Partial<Record<SizeName, Awaited<ReturnType<typeof measure>>>> = {};
  const measure = (server: Server) =>
    withServices(server.installation, async (services) => {
      const count = sizes[server.name].jobs;
      step(`Eviction of ${count} payloads: ${server.name}`);
      await addPayloads(services, server, count);
      const readLocks = async () => parseWriteLocks(await services.metrics.registry.metrics());
      const before = await readLocks();
      const load = { url: server.deliveryUrl, body: pushPayload(kilobyte), connections: 8, perSecond: 100 };
      const posted = generator.pace({ ...load, seconds: besideSeconds });
      const startedAt = performance.now();
      const evicted = await evictPayloads(services, { maxPayloads: count });
      const seconds = (performance.now() - startedAt) / 1000;
      const locks = locksBetween(before, await readLocks());
      const { p50, p99 } = await posted;
      if (evicted < count) throw new BenchmarkFailed(`${evicted} of ${count} payloads were evicted.`);
      return { seconds, locks, p50, p99 };
    });
  for (const server of servers) found[server.name] = await measure(server);
  return [
    lineOf("eviction of as many payloads: seconds", [found], ({ seconds }) => seconds),
    lineOf("  transactions", [found], ({ locks }) => locks.count),
    lineOf("  lock held: mean ms", [found], ({ locks }) => locks.meanMs),
    lineOf("  longest ms, within", [found], ({ locks }) => locks.maxMs),
    lineOf(`  held for more than ${maxLock.ms} ms`, [found], ({ locks }) => locks.longer, {
      large: maxLock.aim,
    }),
    lineOf("webhooks beside it: p50 ms", [found], ({ p50 }) => p50),
    lineOf("  p99 ms", [found], ({ p99 }) => p99),
  ];
}

/** Decided deliveries of the last half day, which were not counted yet. */
async function addPayloads(
  { db, clock }: Services,
  { triggerId, organizationId }: Server,
  count: number,
): Promise<void> {
  const { deliveries, payloads } = db.tables;
  const firstMs = clock.now().getTime() - ageMs - hourMs;
  const timeOf = (index: number) => new Date(firstMs + Math.floor((index / count) * (ageMs - minuteMs)));
  for (let done = 0; done < count; done += rowsAtOnce) {
    const rows = Array.from({ length: Math.min(rowsAtOnce, count - done) }, (_, index) => {
      const receivedAt = timeOf(done + index);
      return newDelivery(triggerId, newId(receivedAt), receivedAt);
    });
    await db.transaction(async (tx) => {
      await tx.insertMany(deliveries, rows);
      await tx.insertMany(
        payloads,
        rows.map(({ id }) => newPayload(organizationId, id)),
      );
    });
  }
}
