import type { Db } from "../../db/database.ts";
import { purgeInBatches } from "../../db/purge-in-batches.ts";
import { lowestIdAt } from "../../ids.ts";
import type { Services } from "../../runtime/services.ts";
import { idempotencyKeysFreeSince } from "../deliveries/accept.ts";
import { deleteDeliveriesBelow, deleteIdempotencyKeysBefore } from "../deliveries/store.ts";
import {
  deletePayloads,
  findPayload,
  hasPayload,
  listOldestPayloads,
  listPayloadsBelow,
  sumPayloadBytes,
} from "./store.ts";

const dayMs = 86_400_000;
const maxRowsAtOnce = 200;
/** Large bodies are many pages. */
const maxBytesAtOnce = 16 * 1024 * 1024;
const maxPagesAtOnce = 2000;

/** Undefined if evicted, or if no webhook created the build. */
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
 * Evicts payloads past their retention, then the oldest of organizations over their limit, in small transactions.
 * Spares waiting deliveries.
 * @returns the number evicted
 */
export async function evictPayloads(services: Services): Promise<number> {
  const evicted = (await evictOld(services)) + (await evictExcess(services));
  await giveBackSpace(services);
  if (evicted > 0) services.log.info({ payloads: evicted }, "evicted payloads");
  return evicted;
}

async function evictOld({ db, clock, config }: Services): Promise<number> {
  const below = lowestIdAt(new Date(clock.now().getTime() - config.payloadRetentionDays * dayMs));
  return evictWhile(db, () => listPayloadsBelow(db, below, maxRowsAtOnce), Number.POSITIVE_INFINITY);
}

async function evictExcess({ db, config }: Services): Promise<number> {
  let evicted = 0;
  for (const { organizationId, bytes } of await sumPayloadBytes(db)) {
    const excess = bytes - config.payloadBytesPerOrganization;
    evicted += await evictWhile(db, () => listOldestPayloads(db, organizationId, maxRowsAtOnce), excess);
  }
  return evicted;
}

type Candidate = { deliveryId: string; size: number };

async function evictWhile(db: Db, list: () => Promise<Candidate[]>, bytes: number): Promise<number> {
  let evicted = 0;
  for (let left = bytes; left > 0; ) {
    const going = takeUntil(await list(), Math.min(left, maxBytesAtOnce));
    if (going.length === 0) break;
    await db.transaction((tx) =>
      deletePayloads(
        tx,
        going.map((each) => each.deliveryId),
      ),
    );
    evicted += going.length;
    left -= going.reduce((sum, each) => sum + each.size, 0);
  }
  return evicted;
}

/** At least one candidate. */
function takeUntil(candidates: Candidate[], bytes: number): Candidate[] {
  const taken: Candidate[] = [];
  for (let sum = 0; sum < bytes && taken.length < candidates.length; ) {
    const next = candidates[taken.length] as Candidate;
    taken.push(next);
    sum += next.size;
  }
  return taken;
}

async function giveBackSpace({ db }: Services): Promise<void> {
  while ((await db.vacuum(maxPagesAtOnce)) > 0);
}

/** Also purges expired idempotency keys. */
export async function purgeDeliveries({ db, clock, config }: Services): Promise<number> {
  const now = clock.now();
  await purgeInBatches(db, (tx, limit) =>
    deleteIdempotencyKeysBefore(tx, idempotencyKeysFreeSince(now), limit),
  );
  const below = lowestIdAt(new Date(now.getTime() - config.deliveryRetentionDays * dayMs));
  return purgeInBatches(db, (tx, limit) => deleteDeliveriesBelow(tx, below, limit));
}
