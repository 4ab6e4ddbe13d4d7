// A delivery's life: it is accepted (committed, `status` null, "waiting"), then decided by a worker, once.
//
//   waiting → build_created   a build was made of it
//   waiting → not_run         filter_mismatch, filter_evaluation_failed: its trigger's filter was not true
//   waiting → failed          build_creation_failed: no retry can mend it (its pipeline is gone, a step has no queue)
//
// While a fault of the database, Redis or a worker lasts it stays waiting, and a sweep sends its job again.

import type { Tx } from "../../db/database.ts";
import { newIds } from "../../ids.ts";
import { createBuilds } from "../../jobs/contracts.ts";
import type { Services } from "../../runtime/services.ts";
import type { StoredHeader } from "../../vocabulary.ts";
import type { Payload } from "../payloads/store.ts";
import { listEnabledVersions } from "../store.ts";
import { claimKeyIfFree, type Delivery, findIdempotencyKey } from "./store.ts";

/** A webhook that passed every check. */
export interface Arrival {
  trigger: { id: string; version: number; organizationId: string };
  contentType: string;
  /** The sender's own id of the delivery. */
  externalId: string | null;
  headers: StoredHeader[];
  idempotencyKey: string | undefined;
  /** Exactly as it came. */
  body: Buffer;
}

export type Acceptance =
  | { outcome: "accepted"; id: string }
  /** The same Idempotency-Key came before: the first delivery's id. */
  | { outcome: "replayed"; id: string }
  /** The trigger was changed, disabled or deleted since it was read: check the request again. */
  | { outcome: "stale" };

const idempotencyMs = 24 * 3_600_000;

/**
 * Commit a group of deliveries with their bytes, then ask for their builds. Nobody waits for the asking: a job
 * that is lost is found by `requeueStranded`.
 */
export async function commitArrivals(services: Services, arrivals: Arrival[]): Promise<Acceptance[]> {
  const { acceptances, enqueued } = await storeArrivals(services, arrivals);
  void enqueued;
  return acceptances;
}

/** The same for who may wait: `enqueued` resolves once the builds are enqueued for, or cannot be for now. Never rejects. */
export async function storeArrivals(
  services: Services,
  arrivals: Arrival[],
): Promise<{ acceptances: Acceptance[]; enqueued: Promise<void> }> {
  const { db, clock, metrics } = services;
  const now = clock.now();
  const ids = newIds(now, arrivals.length);
  const acceptances = await db.transaction((tx) => writeArrivals(tx, arrivals, ids, now));

  const deliveryIds = acceptances.flatMap((each) => (each.outcome === "accepted" ? each.id : []));
  metrics.deliveriesAccepted.inc(deliveryIds.length);
  return { acceptances, enqueued: sendCreateBuilds(services, deliveryIds) };
}

async function sendCreateBuilds({ jobs, log }: Services, deliveryIds: string[]): Promise<void> {
  if (deliveryIds.length === 0) return;
  const sent = await jobs.send(createBuilds, { deliveryIds });
  if (!sent) log.debug({ deliveries: deliveryIds.length }, "builds will follow when Redis is back");
}

async function writeArrivals(tx: Tx, arrivals: Arrival[], ids: string[], now: Date): Promise<Acceptance[]> {
  const triggerIds = [...new Set(arrivals.map((arrival) => arrival.trigger.id))];
  const versions = await listEnabledVersions(tx, triggerIds);
  const acceptances: Acceptance[] = [];
  const deliveries: Delivery[] = [];
  const payloads: Payload[] = [];

  for (const index of inOrderOfKeys(arrivals)) {
    const arrival = arrivals[index] as Arrival;
    const id = ids[index] as string;
    const isCurrent = versions.get(arrival.trigger.id) === arrival.trigger.version;
    const acceptance: Acceptance = isCurrent ? await claimKey(tx, arrival, id, now) : { outcome: "stale" };
    acceptances[index] = acceptance;
    if (acceptance.outcome !== "accepted") continue;
    deliveries.push(newDelivery(arrival, id, now));
    payloads.push({
      deliveryId: id,
      organizationId: arrival.trigger.organizationId,
      size: arrival.body.length,
      headers: arrival.headers,
      body: arrival.body,
    });
  }

  await tx.insertMany(tx.tables.deliveries, deliveries);
  await tx.insertMany(tx.tables.payloads, payloads);
  return acceptances;
}

/** Keys are claimed in one order everywhere: two processes that claim the same ones must not wait for each other. */
function inOrderOfKeys(arrivals: Arrival[]): number[] {
  const order = [...arrivals.keys()];
  if (arrivals.every((arrival) => arrival.idempotencyKey === undefined)) return order;
  const nameOf = (index: number) => `${arrivals[index]?.trigger.id} ${arrivals[index]?.idempotencyKey ?? ""}`;
  return order.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : a - b));
}

async function claimKey(tx: Tx, arrival: Arrival, id: string, now: Date): Promise<Acceptance> {
  const { idempotencyKey: key, trigger } = arrival;
  if (key === undefined) return { outcome: "accepted", id };
  const claim = { triggerId: trigger.id, key, deliveryId: id, createdAt: now };
  if (await claimKeyIfFree(tx, claim, idempotencyKeysFreeSince(now))) return { outcome: "accepted", id };
  const first = await findIdempotencyKey(tx, trigger.id, key);
  if (!first) throw new Error("An idempotency key was neither free nor taken.");
  return { outcome: "replayed", id: first.deliveryId };
}

/** The delivery that this key already made in the last 24 hours, if any. */
export async function findReplayedDelivery(
  services: Services,
  triggerId: string,
  key: string,
): Promise<string | undefined> {
  const first = await findIdempotencyKey(services.db, triggerId, key);
  return first && first.createdAt > idempotencyKeysFreeSince(services.clock.now())
    ? first.deliveryId
    : undefined;
}

/** Keys taken at or before this time are free again. */
export function idempotencyKeysFreeSince(now: Date): Date {
  return new Date(now.getTime() - idempotencyMs);
}

function newDelivery(arrival: Arrival, id: string, now: Date): Delivery {
  return {
    id,
    triggerId: arrival.trigger.id,
    receivedAt: now,
    contentType: arrival.contentType,
    externalId: arrival.externalId,
    size: arrival.body.length,
    status: null,
    reason: null,
    enqueuedAt: now,
  };
}
