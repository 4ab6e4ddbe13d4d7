// A worker decides a committed delivery, once.
//
//   status          reason                                       meaning
//   null            null                                         waiting
//   build_created   null                                         one build or more were created
//   not_run         filter_mismatch, filter_evaluation_failed    the filter was not true
//   not_run         pipeline_archived, branch_mismatch           the pipeline does not want the build
//   not_run         event_not_understood, and those of events    what a source host reports makes no build
//   failed          build_creation_failed                        its pipeline is gone, or a step has no queue
//
// While the database or a worker fails, it waits: workers look for it each second (due.ts).

import { hashToken } from "../../crypto/tokens.ts";
import { commitOrLookUp, type Db, type Tx } from "../../db/database.ts";
import type { Tables } from "../../db/schema.ts";
import { dayMs } from "../../durations.ts";
import { newIds } from "../../ids.ts";
import { createBuildsJob } from "../../jobs/contracts.ts";
import type { Services } from "../../services/services.ts";
import type { StoredHeader } from "../../vocabulary.ts";
import { isShort } from "../events/short.ts";
import type { EncodedBody } from "../payloads/codec.ts";
import { hasPayload } from "../payloads/store.ts";
import { messageIdMs } from "../signatures.ts";
import { listEnabled } from "../store.ts";
import { findIdempotencyKey, moveKeys, takeKeyIfFree } from "./idempotency-store.ts";
import type { Delivery } from "./store.ts";

export interface Arrival {
  trigger: { id: string; version: number; organizationId: string };
  contentType: string;
  /** The sender's own id. */
  externalId: string | null;
  /** The event as the sender names it. */
  event: string | null;
  headers: StoredHeader[];
  keys: DeliveryKey[];
  body: EncodedBody;
}

export type Acceptance =
  | { outcome: "accepted"; id: string }
  | { outcome: "replayed"; id: string }
  /** The trigger changed since it was read. */
  | { outcome: "stale" };

/** For a while, a delivery with the key of an earlier one gets the earlier one's answer. */
export interface DeliveryKey {
  /** The key as stored. */
  text: string;
  keptMs: number;
}

const idempotencyMs = dayMs;
/** No header has a line feed, so that no Idempotency-Key is the id of a message. */
const messagePrefix = "webhook-id\n";
const maxMessageIdLength = 255;

export function keysOf(idempotencyKey: string | undefined, messageId: string | undefined): DeliveryKey[] {
  const keys: DeliveryKey[] = [];
  if (idempotencyKey !== undefined) keys.push({ text: idempotencyKey, keptMs: idempotencyMs });
  if (messageId === undefined) return keys;
  const id = messageId.length > maxMessageIdLength ? hashToken(messageId) : messageId;
  return [...keys, { text: messagePrefix + id, keptMs: messageIdMs }];
}

/** Does not wait until a worker is woken. */
export async function commitArrivals(services: Services, arrivals: Arrival[]): Promise<Acceptance[]> {
  const { db, clock, jobs, metrics, tracing } = services;
  const now = clock.now();
  const ids = newIds(now, arrivals.length);
  const acceptances = await commitOrLookUp(
    db,
    (tx) => writeArrivals(tx, arrivals, ids, now),
    (written) => wereCommitted(db, written),
  );

  const deliveryIds = acceptances.flatMap((each) => (each.outcome === "accepted" ? each.id : []));
  metrics.deliveriesAccepted.inc(deliveryIds.length);
  if (tracing) {
    const end = clock.now();
    for (const traceId of deliveryIds)
      tracing.record({ name: "accept", traceId, start: now, end, attributes: {} });
  }
  if (deliveryIds.length > 0) void jobs.send(createBuildsJob);
  return acceptances;
}

/** Looks up one delivery: all share the transaction. */
async function wereCommitted(db: Db, acceptances: Acceptance[]): Promise<boolean> {
  const accepted = acceptances.find(({ outcome }) => outcome === "accepted");
  return accepted?.outcome === "accepted" && hasPayload(db, accepted.id);
}

async function writeArrivals(tx: Tx, arrivals: Arrival[], ids: string[], now: Date): Promise<Acceptance[]> {
  const triggerIds = [...new Set(arrivals.map((arrival) => arrival.trigger.id))];
  const enabled = await listEnabled(tx, triggerIds);
  const acceptances: Acceptance[] = [];
  const deliveries: Delivery[] = [];
  const payloads: Tables["payloads"]["$inferSelect"][] = [];

  for (const index of orderByKey(arrivals)) {
    const arrival = arrivals[index] as Arrival;
    const id = ids[index] as string;
    const trigger = enabled.get(arrival.trigger.id);
    if (trigger?.version !== arrival.trigger.version) {
      acceptances[index] = { outcome: "stale" };
      continue;
    }
    const acceptance: Acceptance =
      arrival.keys.length > 0 ? await takeKeys(tx, { arrival, id, now }) : { outcome: "accepted", id };
    acceptances[index] = acceptance;
    if (acceptance.outcome !== "accepted") continue;
    const isFiltered = trigger.isProvider ? !isShort(arrival.body) : trigger.hasFilter;
    deliveries.push({ ...newDelivery(arrival, id, now), isFiltered });
    payloads.push({
      deliveryId: id,
      organizationId: arrival.trigger.organizationId,
      size: arrival.body.bytes.length,
      headers: arrival.headers,
      codec: arrival.body.codec,
      body: arrival.body.bytes,
    });
  }

  await tx.insertMany(tx.tables.deliveries, deliveries);
  await tx.insertMany(tx.tables.payloads, payloads);
  return acceptances;
}

/** Different orders would deadlock. */
function orderByKey(arrivals: Arrival[]): number[] {
  const order = [...arrivals.keys()];
  if (arrivals.every((arrival) => arrival.keys.length === 0)) return order;
  const nameOf = (index: number) => `${arrivals[index]?.trigger.id} ${arrivals[index]?.keys[0]?.text ?? ""}`;
  return order.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : a - b));
}

/** Takes the keys of a delivery. The first key that another has decides. */
async function takeKeys(
  tx: Tx,
  { arrival: { trigger, keys }, id, now }: { arrival: Arrival; id: string; now: Date },
): Promise<Acceptance> {
  const wanted = keys.map(({ text, keptMs }) => ({
    row: { triggerId: trigger.id, key: text, deliveryId: id, createdAt: now },
    freeSince: freeSince(now, keptMs),
  }));
  for (const [index, { row, freeSince }] of wanted.entries()) {
    if (await takeKeyIfFree(tx, row, freeSince)) continue;
    const first = await findIdempotencyKey(tx, trigger.id, row.key);
    if (!first) throw new Error("An idempotency key was neither free nor taken.");
    const taken = wanted.slice(0, index).map((each) => each.row.key);
    await moveKeys(tx, { triggerId: trigger.id, keys: taken, deliveryId: first.deliveryId });
    return { outcome: "replayed", id: first.deliveryId };
  }
  return { outcome: "accepted", id };
}

export async function findReplayedDelivery(
  services: Services,
  triggerId: string,
  keys: DeliveryKey[],
): Promise<string | undefined> {
  const now = services.clock.now();
  for (const { text, keptMs } of keys) {
    const first = await findIdempotencyKey(services.db, triggerId, text);
    if (first && first.createdAt > freeSince(now, keptMs)) return first.deliveryId;
  }
  return undefined;
}

export function idempotencyKeysFreeSince(now: Date): Date {
  return freeSince(now, idempotencyMs);
}

function freeSince(now: Date, keptMs: number): Date {
  return new Date(now.getTime() - keptMs);
}

function newDelivery(arrival: Arrival, id: string, now: Date): Omit<Delivery, "isFiltered"> {
  return {
    id,
    triggerId: arrival.trigger.id,
    receivedAt: now,
    contentType: arrival.contentType,
    externalId: arrival.externalId,
    event: arrival.event,
    size: arrival.body.size,
    status: null,
    reason: null,
    dueAt: now,
    organizationId: arrival.trigger.organizationId,
  };
}
