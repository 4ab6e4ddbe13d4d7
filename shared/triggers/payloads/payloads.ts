import { type Batch, restBetweenTransactions, runBatches } from "../../db/batches.ts";
import type { Tx } from "../../db/database.ts";
import { hourOf } from "../../durations.ts";
import { lowestIdAt } from "../../ids.ts";
import { type Evictable, evict } from "../../retention/evict.ts";
import { afterDays, type Expiring, expiring } from "../../retention/expiring.ts";
import type { Services } from "../../services/services.ts";
import { idempotencyKeysFreeSince } from "../deliveries/accept.ts";
import { deleteIdempotencyKeysBefore } from "../deliveries/idempotency-store.ts";
import { deleteDeliveries, listDecidedBelow } from "../deliveries/store.ts";
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
  const bounds = { maxCount: maxPayloads };
  const old = isClockTrusted ? await evictOld(services, bounds) : 0;
  if (isClockTrusted) await countPayloads(services);
  const evicted = old + (await evict(services, countedPayloads, isClockTrusted, bounds));
  await giveBackSpace(services);
  if (evicted > 0) services.log.info({ payloads: evicted }, "evicted payloads");
  return evicted;
}

const expiry = afterDays("payloadRetentionDays");

function evictOld({ db, clock, config }: Services, bounds: { maxCount: number }): Promise<number> {
  const below = lowestIdAt(expiry(clock.now(), config));
  const everything = Number.POSITIVE_INFINITY;
  return runBatches(db, (tx, after) => evictNext(tx, { below, bytes: everything, after }), bounds);
}

/** Payloads that are not counted yet are young, or wait for the first runs after an upgrade. */
const countedPayloads: Evictable = {
  totals: ({ payloadTotals }) => payloadTotals,
  expiry: (now, config) => hourOf(expiry(now, config)),
  maxBytes: ({ payloadBytesPerOrganization }) => payloadBytesPerOrganization,
  lock: deleteEmptyTotals,
  evictNext: async (tx, { organizationId, excess: bytes, after }) =>
    evictNext(tx, { organizationId, below: await lockTotals(tx), bytes, after }),
};

interface Eviction {
  organizationId?: string;
  below: string;
  /** The bytes to evict, at least. */
  bytes: number;
  after: string | undefined;
}

async function evictNext(
  tx: Tx,
  { bytes, after = lowestIdAt(new Date(0)), ...scope }: Eviction,
): Promise<Batch> {
  if (bytes <= 0) return { count: 0, isLast: true };
  const payloads = await listOldestPayloads(tx, { ...scope, after }, maxRowsAtOnce);
  const decided = payloads.filter(({ isDecided }) => isDecided);
  const going = takeUntil(decided, Math.min(bytes, maxBytesAtOnce)).map(({ deliveryId }) => deliveryId);
  await deletePayloads(tx, going);
  const isCut = going.length < decided.length;
  const next = isCut ? going.at(-1) : payloads[maxRowsAtOnce - 1]?.deliveryId;
  return { count: going.length, isLast: next === undefined, after: next };
}

/** Takes the first payloads that have this many bytes together: at least one, if there is one. */
function takeUntil<Payload extends { size: number }>(payloads: Payload[], bytes: number): Payload[] {
  let sum = 0;
  const end = payloads.findIndex(({ size }) => {
    sum += size;
    return sum >= bytes;
  });
  return end < 0 ? payloads : payloads.slice(0, end + 1);
}

async function giveBackSpace({ db }: Services): Promise<void> {
  while ((await db.vacuum(maxPagesAtOnce)) > 0) await restBetweenTransactions();
}

export const oldDeliveries: Expiring[] = [
  expiring("idempotencyKeys", idempotencyKeysFreeSince, deleteIdempotencyKeysBefore),
  expiring("deliveries", afterDays("deliveryRetentionDays"), async (tx, time, limit) => {
    const ids = await listDecidedBelow(tx, lowestIdAt(time), limit);
    await deletePayloads(tx, ids);
    return deleteDeliveries(tx, ids);
  }),
];
