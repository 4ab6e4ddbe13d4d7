import { lowestIdAt } from "../ids.ts";
import type { Services } from "../services.ts";
import { idempotentSince } from "./delivery.ts";
import {
  deleteDeliveriesBelow,
  deleteIdempotencyKeysBefore,
  deletePayloads,
  deletePayloadsBelow,
  findPayload,
  hasPayload,
  listOldestPayloads,
  sumPayloadBytes,
} from "./store.ts";

const dayMs = 86_400_000;
const rowsAtOnce = 200;
const pagesAtOnce = 2000;

/** The text that a build's webhook brought, exactly; undefined once it is evicted, or when no webhook made it. */
export async function readWebhookPayload(
  services: Services,
  build: { deliveryId: string | null },
): Promise<string | undefined> {
  const payload = build.deliveryId === null ? undefined : await findPayload(services.db, build.deliveryId);
  return payload?.body.toString("utf8");
}

export async function canReadWebhookPayload(
  services: Services,
  build: { deliveryId: string | null },
): Promise<boolean> {
  return build.deliveryId !== null && hasPayload(services.db, build.deliveryId);
}

/**
 * Drop payloads past their retention, then the oldest of organizations that keep too many bytes, and give the
 * space back to the file system. Payloads of deliveries that still wait for their build stay. Everything goes in
 * small transactions, so that nobody waits for it.
 * @returns how many were dropped
 */
export async function evictPayloads(services: Services): Promise<number> {
  const evicted = (await evictOld(services)) + (await evictExcess(services));
  await giveBackSpace(services);
  if (evicted > 0) services.log.info({ payloads: evicted }, "evicted payloads");
  return evicted;
}

async function evictOld({ db, clock, config }: Services): Promise<number> {
  const below = lowestIdAt(new Date(clock.now().getTime() - config.payloadRetentionDays * dayMs));
  return inBatches(() => db.transaction((tx) => deletePayloadsBelow(tx, below, rowsAtOnce)));
}

async function evictExcess({ db, config }: Services): Promise<number> {
  let evicted = 0;
  for (const { organizationId, bytes } of await sumPayloadBytes(db)) {
    let excess = bytes - config.payloadBytesPerOrganization;
    while (excess > 0) {
      const oldest = await listOldestPayloads(db, organizationId, rowsAtOnce);
      if (oldest.length === 0) break;
      const going: string[] = [];
      for (const { deliveryId, size } of oldest) {
        if (excess <= 0) break;
        going.push(deliveryId);
        excess -= size;
      }
      await db.transaction((tx) => deletePayloads(tx, going));
      evicted += going.length;
    }
  }
  return evicted;
}

async function giveBackSpace({ db }: Services): Promise<void> {
  while ((await db.giveBackSpace(pagesAtOnce)) > 0);
}

/** Forget decided deliveries past their retention, with what is left of them, and spent idempotency keys. */
export async function purgeDeliveries({ db, clock, config }: Services): Promise<number> {
  const now = clock.now();
  await db.transaction((tx) => deleteIdempotencyKeysBefore(tx, idempotentSince(now)));
  const below = lowestIdAt(new Date(now.getTime() - config.deliveryRetentionDays * dayMs));
  return inBatches(() => db.transaction((tx) => deleteDeliveriesBelow(tx, below, rowsAtOnce)));
}

async function inBatches(deleteBatch: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const gone = await deleteBatch();
    total += gone;
    if (gone < rowsAtOnce) return total;
  }
}
