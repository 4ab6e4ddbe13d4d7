import type { BuildRequest } from "../../builds/making/builds.ts";
import type { Tx } from "../../db/database.ts";
import { secondsBetween } from "../../durations.ts";
import { timeOfId } from "../../ids.ts";
import type { Topic } from "../../redis/events.ts";
import type { Services } from "../../services/services.ts";
import type { DeliveryReason, DeliveryStatus, UnwantedReason } from "../../vocabulary.ts";
import { planBuild } from "../columns.ts";
import { dueOfGoneBranches } from "../events/gone-branches.ts";
import { createParts } from "../events/parts.ts";
import { planEvents } from "../events/plan.ts";
import { readReports } from "../events/reports.ts";
import type { Result } from "../filter/slice.ts";
import { listTriggersById, type Trigger } from "../store.ts";
import { decideIfWaiting, setDue, setOutcome, waitForFilter } from "./due-store.ts";
import type { Delivery } from "./store.ts";

export interface Decided {
  counts: Partial<Record<DeliveryStatus, number>>;
  built: { id: string; number: number; createdAt: Date; deliveryId: string; delaySeconds: number }[];
  outcomes: Outcome[];
  changed: Topic[];
  /** There is more to decide now: other builds, or deliveries that wait for their filter or a thread. */
  isMore: boolean;
  /** Deliveries that wait for an earlier one of their pipeline, which others have. */
  held: string[];
}

/**
 * Decides deliveries that need no filter or have a result, and short events of providers in their order, and makes their
 * builds. The others wait for their filter, or for a thread. Call it with waiting deliveries, locked.
 * @param maxSize larger builds are refused: they need a transaction of their own
 * @throws TooManyJobs before it has written anything
 */
export async function decideAndBuild(
  tx: Tx,
  services: Services,
  {
    deliveries,
    results,
    maxSize,
  }: {
    deliveries: Delivery[];
    results: ReadonlyMap<string, Result>;
    maxSize: number;
  },
): Promise<Decided> {
  const triggerIds = [...new Set(deliveries.map(({ triggerId }) => triggerId))];
  const triggers = await listTriggersById(tx, triggerIds);
  const triggerOf = new Map(triggers.map((trigger) => [trigger.id, trigger]));
  const planOf = new Map(triggers.map((trigger) => [trigger.id, planBuild(trigger)]));
  const isEvent = ({ triggerId }: Delivery) => triggerOf.get(triggerId)?.isProvider === true;
  const options = { triggerOf, results, now: services.clock.now() };
  const events = await readReports(tx, deliveries.filter(isEvent), options);
  const others = deliveries.filter((delivery) => !isEvent(delivery));
  // Builds are numbered in the order of arrival.
  const sorted = [...others, ...events.deliveries].sort((a, b) => (a.id < b.id ? -1 : 1));
  const { plans, open } = await planEvents(tx, services, events.reports, {
    pipelineIds: [...new Set(triggers.map(({ pipelineId }) => pipelineId))],
  });
  const requests: BuildRequest[] = [];
  const outcomes: Outcome[] = [];
  const waiting: string[] = [];
  for (const delivery of sorted) {
    const { id } = delivery;
    const plan = plans.get(id);
    const reason = plan ? undefined : reasonNotToRun(triggerOf.get(delivery.triggerId), results.get(id));
    if (plan?.outcome) outcomes.push({ id, ...plan.outcome });
    else if (plan) requests.push(...plan.requests);
    else if (reason === "no result") waiting.push(id);
    else if (reason) outcomes.push({ id, status: "not_run", reason });
    else requests.push(requestBuild(delivery, planOf));
  }
  const { builds, refused, unwanted, changed, left } = await createParts(tx, services, { requests, maxSize });
  await waitForFilter(tx, waiting);
  await open.store(tx);
  const areBuilt = new Set(builds.map(({ deliveryId }) => deliveryId));
  for (const [id, own] of Map.groupBy(refused, ({ deliveryId }) => deliveryId ?? ""))
    if (!areBuilt.has(id) && !plans.get(id)?.wasBuilt) outcomes.push(outcomeOfRefused(id, own, unwanted));
  const undecided = new Set([...waiting, ...left]);
  const decided = sorted.flatMap(({ id }) => (undecided.has(id) ? [] : id));
  await decideIfWaiting(tx, { ids: decided });
  await storeOutcomes(
    tx,
    outcomes.filter(({ id }) => !undecided.has(id)),
  );
  const readInVain = [...events.held, ...events.later].filter((id) => results.has(id));
  await setDue(tx, { ids: [...left, ...readInVain], dueAt: tx.now });
  await dueOfGoneBranches(tx, plans, builds);
  const topics = triggers.map(({ id }) => `trigger:${id}` as const);
  return {
    counts: {
      build_created: decided.length - outcomes.length,
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
    isMore: undecided.size > 0 || events.later.length > 0,
    held: events.held,
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
  result: Result | undefined,
): DeliveryReason | "no result" | undefined {
  if (trigger?.isProvider) return "no result";
  const filter = trigger?.filter ?? null;
  if (filter === null) return undefined;
  if (!result || "reading" in result || result.filter !== filter) return "no result";
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

/** The outcome of a delivery of which no build was made. */
function outcomeOfRefused(
  id: string,
  refused: BuildRequest[],
  unwanted: Map<BuildRequest, UnwantedReason>,
): Outcome {
  const reasons = refused.map((request) => unwanted.get(request));
  const [reason] = reasons;
  return reason === undefined || reasons.includes(undefined)
    ? { id, status: "failed", reason: "build_creation_failed" }
    : { id, status: "not_run", reason };
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
