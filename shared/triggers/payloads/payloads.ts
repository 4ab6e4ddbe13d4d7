import { findTotal, listOrganizationsToEvict } from "../../accounts/byte-totals-store.ts";
import type { Db, Tx } from "../../db/database.ts";
import { purgeInBatches, restBetweenTransactions } from "../../db/purge-in-batches.ts";
import { dayMs, hourOf } from "../../durations.ts";
import { lowestIdAt } from "../../ids.ts";
import type { Services } from "../../process/services.ts";
import { idempotencyKeysFreeSince } from "../deliveries/accept.ts";
import { deleteDeliveries, deleteIdempotencyKeysBefore, listDecidedBelow } from "../deliveries/store.ts";
import { deletePayloads, findPayload, hasPayload, listOldestPayloads } from "./store.ts";
import { countPayloads } from "./totals.ts";
import { deleteEmptyTotals, lockTotals } from "./totals-store.ts";

const maxRowsAtOnce = 200;
/** Large bodies are many pages. */
const maxBytesAtOnce = 16 * 1024 * 1024;
const maxPagesAtOnce = 2000;
/** A run leaves the rest to the next, ten minutes later: far more than arrive meanwhile. */
const defaultMaxPayloads = 400_000;

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
 * @param options.isClockTrusted false: keeps those past their retention, and counts none, whose ids may be of a time
 * to come
 * @param options.maxPayloads stops a run soon after this many old ones, or this many of an organization
 * @returns the number evicted
 */
export async function evictPayloads(
  services: Services,
  { isClockTrusted = true, maxPayloads = defaultMaxPayloads } = {},
): Promise<number> {
  const old = isClockTrusted ? await evictOld(services, maxPayloads) : 0;
  if (isClockTrusted) await countPayloads(services);
  const evicted = old + (await evictExcess(services, maxPayloads));
  await giveBackSpace(services);
  if (evicted > 0) services.log.info({ payloads: evicted }, "evicted payloads");
  return evicted;
}

async function evictOld({ db, clock, config }: Services, maxPayloads: number): Promise<number> {
  const below = lowestIdAt(evictedBefore(clock.now(), config));
  return evictInSteps(db, maxPayloads, async () => ({ below, bytes: Number.POSITIVE_INFINITY }));
}

/** Reads the totals. Payloads that are not counted yet are young, or wait for the first runs after an upgrade. */
async function evictExcess({ db, clock, config }: Services, maxPayloads: number): Promise<number> {
  const maxBytes = config.payloadBytesPerOrganization;
  const time = hourOf(evictedBefore(clock.now(), config));
  let evicted = 0;
  for (const organizationId of await listOrganizationsToEvict(db, db.tables.payloadTotals, {
    maxBytes,
    time,
  })) {
    await db.transaction((tx) => deleteEmptyTotals(tx, organizationId));
    evicted += await evictInSteps(db, maxPayloads, async (tx) => {
      const below = await lockTotals(tx); // two workers must not evict the same excess twice
      return {
        organizationId,
        below,
        bytes: (await findTotal(tx, tx.tables.payloadTotals, organizationId)) - maxBytes,
      };
    });
  }
  return evicted;
}

function evictedBefore(now: Date, { payloadRetentionDays }: Services["config"]): Date {
  return new Date(now.getTime() - payloadRetentionDays * dayMs);
}

interface Eviction {
  organizationId?: string;
  below: string;
  /** Evicts until it reaches this size. */
  bytes: number;
}

/** Each step is a transaction. */
async function evictInSteps(
  db: Db,
  maxPayloads: number,
  plan: (tx: Tx) => Promise<Eviction>,
): Promise<number> {
  let evicted = 0;
  let after = lowestIdAt(new Date(0));
  while (evicted < maxPayloads) {
    const from = after;
    const step = await db.transaction(async (tx) => evictNext(tx, await plan(tx), from));
    evicted += step.evicted;
    if (step.after === undefined) return evicted;
    after = step.after;
    await restBetweenTransactions();
  }
  return evicted;
}

/** @returns after: undefined after the last step */
async function evictNext(
  tx: Tx,
  { bytes, ...scope }: Eviction,
  after: string,
): Promise<{ evicted: number; after: string | undefined }> {
  if (bytes <= 0) return { evicted: 0, after: undefined };
  const payloads = await listOldestPayloads(tx, { ...scope, after }, maxRowsAtOnce);
  const decided = payloads.filter(({ isDecided }) => isDecided);
  const going = takeUntil(decided, Math.min(bytes, maxBytesAtOnce)).map(({ deliveryId }) => deliveryId);
  await deletePayloads(tx, going);
  const isCut = going.length < decided.length;
  return { evicted: going.length, after: isCut ? going.at(-1) : payloads[maxRowsAtOnce - 1]?.deliveryId };
}

/** At least one, if there is one. */
function takeUntil<Payload extends { size: number }>(payloads: Payload[], bytes: number): Payload[] {
  const taken: Payload[] = [];
  for (let sum = 0; sum < bytes && taken.length < payloads.length; ) {
    const next = payloads[taken.length] as Payload;
    taken.push(next);
    sum += next.size;
  }
  return taken;
}

async function giveBackSpace({ db }: Services): Promise<void> {
  while ((await db.vacuum(maxPagesAtOnce)) > 0) await restBetweenTransactions();
}

/** Also purges expired idempotency keys. */
export async function purgeDeliveries({ db, clock, config }: Services): Promise<number> {
  const now = clock.now();
  await purgeInBatches(db, (tx, limit) =>
    deleteIdempotencyKeysBefore(tx, idempotencyKeysFreeSince(now), limit),
  );
  const below = lowestIdAt(new Date(now.getTime() - config.deliveryRetentionDays * dayMs));
  return purgeInBatches(db, async (tx, limit) => {
    const ids = await listDecidedBelow(tx, below, limit);
    await deletePayloads(tx, ids);
    return deleteDeliveries(tx, ids);
  });
}
