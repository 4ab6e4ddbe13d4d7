// States of a delivery. It is accepted once committed; a worker decides it, once.
//
//   status          reason                                       meaning
//   null            null                                         waiting: accepted, not yet decided
//   build_created   null                                         a build was created
//   not_run         filter_mismatch, filter_evaluation_failed    the trigger's filter was not true
//   failed          build_creation_failed                        its pipeline is gone, or a step has no queue
//
// While the database, Redis or a worker fails, it stays waiting: `requeue.ts` sends its job again.

import type { Tx } from "../../db/database.ts";
import { dayMs } from "../../durations.ts";
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
  /** The sender's own id. */
  externalId: string | null;
  headers: StoredHeader[];
  idempotencyKey: string | undefined;
  body: Buffer;
}

export type Acceptance =
  | { outcome: "accepted"; id: string }
  /** The id of the first delivery with this Idempotency-Key. */
  | { outcome: "replayed"; id: string }
  /** The trigger changed since it was read. */
  | { outcome: "stale" };

const idempotencyMs = dayMs;

/**
 * Commits deliveries with their payloads, then sends the job that decides them, without waiting:
 * `requeueStranded` finds those whose job was lost.
 */
export async function commitArrivals(services: Services, arrivals: Arrival[]): Promise<Acceptance[]> {
  const { acceptances, enqueued } = await storeArrivals(services, arrivals);
  void enqueued;
  return acceptances;
}

/** Like `commitArrivals`, but `enqueued` resolves once the job was sent or failed. It never rejects. */
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
  if (!sent)
    log.debug(
      { deliveries: deliveryIds.length },
      "could not send the job of deliveries; they will be requeued",
    );
}

async function writeArrivals(tx: Tx, arrivals: Arrival[], ids: string[], now: Date): Promise<Acceptance[]> {
  const triggerIds = [...new Set(arrivals.map((arrival) => arrival.trigger.id))];
  const versions = await listEnabledVersions(tx, triggerIds);
  const acceptances: Acceptance[] = [];
  const deliveries: Delivery[] = [];
  const payloads: Payload[] = [];

  for (const index of orderByKey(arrivals)) {
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
      codec: "identity",
      body: arrival.body,
    });
  }

  await tx.insertMany(tx.tables.deliveries, deliveries);
  await tx.insertMany(tx.tables.payloads, payloads);
  return acceptances;
}

/** Processes that claim keys in different orders would deadlock. */
function orderByKey(arrivals: Arrival[]): number[] {
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

/** Returns the id of the delivery. */
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

/** Keys claimed until this time are free again. */
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
