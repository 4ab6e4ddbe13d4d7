import { type BuildRequest, createBuilds } from "../../builds/making/builds.ts";
import type { Tx } from "../../db/database.ts";
import { secondsBetween } from "../../durations.ts";
import { timeOfId } from "../../ids.ts";
import type { Topic } from "../../redis/events.ts";
import type { Services } from "../../services/services.ts";
import type { DeliveryReason, DeliveryStatus, UnwantedReason } from "../../vocabulary.ts";
import type { FilterResult } from "../filter/slice.ts";
import { planBuild } from "../members.ts";
import { listTriggersById, type Trigger } from "../store.ts";
import { decideIfWaiting, setOutcome, waitForFilter } from "./due-store.ts";
import type { Delivery } from "./store.ts";

export interface Decided {
  counts: Partial<Record<DeliveryStatus, number>>;
  built: { id: string; number: number; createdAt: Date; deliveryId: string; delaySeconds: number }[];
  outcomes: Outcome[];
  changed: Topic[];
  /** Deliveries that wait for their filter now. */
  waiting: number;
}

/**
 * Decides deliveries that need no filter or have a result, and makes their builds. The others wait for their filter. Call
 * it with waiting deliveries, locked.
 * @param maxSize larger builds are refused: they need a transaction of their own
 * @throws TooManyJobs
 */
export async function decideAndBuild(
  tx: Tx,
  services: Services,
  {
    deliveries,
    results,
    maxSize,
  }: {
    deliveries: Pick<Delivery, "id" | "triggerId">[];
    results: Map<string, FilterResult>;
    maxSize: number;
  },
): Promise<Decided> {
  const triggerIds = [...new Set(deliveries.map(({ triggerId }) => triggerId))];
  const triggers = await listTriggersById(tx, triggerIds);
  const triggerOf = new Map(triggers.map((trigger) => [trigger.id, trigger]));
  const planOf = new Map(triggers.map((trigger) => [trigger.id, planBuild(trigger)]));
  const requests: BuildRequest[] = [];
  const outcomes: Outcome[] = [];
  const waiting: string[] = [];
  for (const delivery of [...deliveries].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    // sorted: number builds in order of arrival
    const reason = reasonNotToRun(triggerOf.get(delivery.triggerId), results.get(delivery.id));
    if (reason === "no result") waiting.push(delivery.id);
    else if (reason) outcomes.push({ id: delivery.id, status: "not_run", reason });
    else requests.push(requestBuild(delivery, planOf));
  }
  await waitForFilter(tx, waiting);

  const made = await createBuilds(tx, services, requests, services.clock.now(), maxSize);
  const { builds, refused, unwanted, changed } = made;
  for (const request of refused) outcomes.push(outcomeOfRefused(request, unwanted.get(request)));
  await decideIfWaiting(tx, {
    ids: requests.flatMap(({ deliveryId }) => deliveryId ?? []).concat(outcomes.map(({ id }) => id)),
  });
  await storeOutcomes(tx, outcomes);
  const topics = triggers.map(({ id }) => `trigger:${id}` as const);
  return {
    counts: {
      build_created: builds.length,
      not_run: countOf(outcomes, "not_run"),
      failed: countOf(outcomes, "failed"),
    },
    built: builds.map(({ id, number, deliveryId, createdAt }) => ({
      id,
      number,
      createdAt,
      deliveryId: deliveryId ?? "",
      delaySeconds: secondsBetween(timeOfId(deliveryId ?? ""), createdAt),
    })),
    outcomes,
    waiting: waiting.length,
    changed: [...changed, ...topics],
  };
}

/** Tells others about deliveries that were decided, once that is committed. */
export function publishDecided(services: Services, decided: Decided): void {
  const { events, metrics } = services;
  events.publish(decided.changed);
  for (const [status, count] of Object.entries(decided.counts))
    metrics.deliveriesDecided.inc({ status }, count);
  for (const { delaySeconds } of decided.built) metrics.deliveryToBuildSeconds.observe(delaySeconds);
  traceDecided(services, decided);
}

function traceDecided({ clock, tracing }: Services, { built, outcomes }: Decided): void {
  if (!tracing) return;
  const end = clock.now();
  const parent = { name: "accept" } as const;
  const decide = (id: string, decidedAt: Date, attributes: Record<string, string>) =>
    tracing.record({ name: "decide", traceId: id, parent, start: timeOfId(id), end: decidedAt, attributes });

  for (const { id, status, reason } of outcomes) decide(id, end, { status, reason: reason ?? "" });
  for (const { id, number, deliveryId, createdAt } of built) {
    decide(deliveryId, createdAt, { status: "build_created" });
    tracing.record({
      name: "build",
      traceId: deliveryId,
      subject: id,
      parent: { name: "decide" },
      start: createdAt,
      end,
      attributes: { build: id, number },
    });
  }
}

/** Returns undefined to build. "no result": its filter has to be evaluated, perhaps again. */
function reasonNotToRun(
  trigger: Trigger | undefined,
  result: FilterResult | undefined,
): DeliveryReason | "no result" | undefined {
  const filter = trigger?.filter ?? null;
  if (filter === null) return undefined;
  if (result?.filter !== filter) return "no result";
  const { outcome } = result;
  if ("error" in outcome) return "filter_evaluation_failed";
  return outcome.verdict ? undefined : "filter_mismatch";
}

function requestBuild(
  delivery: Pick<Delivery, "id" | "triggerId">,
  planOf: Map<string, ReturnType<typeof planBuild>>,
): BuildRequest {
  const plan = planOf.get(delivery.triggerId);
  if (!plan) throw new Error(`Delivery ${delivery.id} has no trigger.`);
  return { ...plan, deliveryId: delivery.id };
}

interface Outcome {
  id: string;
  status: DeliveryStatus;
  reason: DeliveryReason;
}

function outcomeOfRefused({ deliveryId }: BuildRequest, unwanted: UnwantedReason | undefined): Outcome {
  const id = deliveryId ?? "";
  return unwanted
    ? { id, status: "not_run", reason: unwanted }
    : { id, status: "failed", reason: "build_creation_failed" };
}

async function storeOutcomes(tx: Tx, outcomes: Outcome[]): Promise<void> {
  for (const [reason, alike] of Map.groupBy(outcomes, (outcome) => outcome.reason)) {
    const [{ status }] = alike as [Outcome];
    const ids = alike.map(({ id }) => id);
    await setOutcome(tx, ids, { status, reason });
  }
}

function countOf(outcomes: Outcome[], status: DeliveryStatus): number {
  return outcomes.filter((outcome) => outcome.status === status).length;
}
