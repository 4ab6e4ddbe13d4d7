import { setImmediate as nextTurn } from "node:timers/promises";
import { secondMs } from "../../durations.ts";
import type { Services } from "../../process/services.ts";
import { setEnqueuedAt, strandedAfterMs } from "../deliveries/store.ts";

export interface Leased {
  id: string;
  enqueuedAt: Date;
}

/** Deliveries that this worker has in memory. Their `enqueuedAt` is kept recent, so that nobody requeues them. */
export interface Leases {
  readonly size: number;
  add(delivery: Leased): void;
  delete(id: string): void;
  /** Returns true if this or another worker has the delivery. */
  isTaken(delivery: Leased): boolean;
  /** Strands the deliveries, so that another worker gets them soon. */
  close(): Promise<void>;
}

/** Most deliveries are decided before they need a lease: it costs a write. */
const renewAfterMs = 4 * secondMs;
const leaseMs = 20 * secondMs;
const checkEveryMs = 2 * secondMs;
/** The clocks of machines differ by less. */
const clockToleranceMs = 5 * secondMs;
/** A delivery that is deferred further counts as stranded by a wrong clock. */
const maxDeferMs = 50 * secondMs;
const maxIdsAtOnce = 500;

export function openLeases(services: Services): Leases {
  const { clock, log } = services;
  const leased = new Map<string, Leased>();
  let renewing: Promise<void> | undefined;

  const renewAll = async () => {
    await nextTurn(); // gathers deliveries that are added together
    const now = clock.now().getTime();
    const due = [...leased.values()].filter(({ enqueuedAt }) => enqueuedAt.getTime() < now - renewAfterMs);
    const enqueuedAt = new Date(now + leaseMs);
    for (const delivery of due) delivery.enqueuedAt = enqueuedAt;
    await setAll(
      services,
      due.map(({ id }) => id),
      enqueuedAt,
    );
  };
  const renew = () => {
    renewing ??= renewAll()
      .catch((error: unknown) => log.debug({ err: error }, "leases of deliveries were not renewed"))
      .finally(() => {
        renewing = undefined;
      });
  };
  const timer = setInterval(renew, checkEveryMs);
  timer.unref();

  return {
    get size() {
      return leased.size;
    },
    add(delivery) {
      leased.set(delivery.id, delivery);
      if (delivery.enqueuedAt.getTime() < clock.now().getTime() - renewAfterMs) renew();
    },
    delete: (id) => void leased.delete(id),
    isTaken: ({ id, enqueuedAt }) =>
      leased.has(id) || enqueuedAt.getTime() > clock.now().getTime() + clockToleranceMs,
    async close() {
      clearInterval(timer);
      await renewing;
      const stranded = new Date(clock.now().getTime() - strandedAfterMs - 1);
      await setAll(services, [...leased.keys()], stranded).catch(() => {}); // leases end by themselves
    },
  };
}

/** Lets the deliveries be requeued after the delay, or within a minute. */
export async function deferDeliveries(services: Services, ids: string[], delayMs: number): Promise<void> {
  const requeueAt = services.clock.now().getTime() + Math.min(delayMs, maxDeferMs);
  await setAll(services, ids, new Date(requeueAt - strandedAfterMs));
}

async function setAll({ db }: Services, ids: string[], enqueuedAt: Date): Promise<void> {
  for (let start = 0; start < ids.length; start += maxIdsAtOnce) {
    const some = ids.slice(start, start + maxIdsAtOnce);
    await db.transaction((tx) => setEnqueuedAt(tx, some, enqueuedAt));
  }
}
