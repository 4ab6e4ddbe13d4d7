import { type BuildRequest, createBuilds } from "../../builds/create.ts";
import { TooManyJobs } from "../../builds/too-many-jobs.ts";
import type { Tx } from "../../db/database.ts";
import { secondsBetween } from "../../durations.ts";
import { timeOfId } from "../../ids.ts";
import type { Services } from "../../process/services.ts";
import { createBatcher } from "../../sharing/batcher.ts";
import type { DeliveryReason, DeliveryStatus, UnwantedReason } from "../../vocabulary.ts";
import { type FilterBacklog, openFilterBacklog } from "../filter/backlog.ts";
import type { FilterResult } from "../filter/deliveries.ts";
import { type FilterLanes, openFilterLanes } from "../filter/lanes.ts";
import type { Evaluated } from "../filter/turn.ts";
import { planBuild } from "../members.ts";
import { listTriggersById, type Trigger } from "../store.ts";
import { type LargeGroups, openLargeGroups } from "./large-groups.ts";
import { type Delivery, decideIfWaiting, listFilteredDeliveries, setOutcome } from "./store.ts";

const maxGroupItems = 500;
/** Larger builds take turns: 500 jobs, a quarter of the most, take 10 ms, in which nobody else writes to SQLite. */
const maxSize = 1 / 4;

export interface DeliveryBuilder {
  /**
   * Concurrent deliveries share a transaction. Resolves once the delivery is decided, or waits for its filter or for its
   * organization's turn.
   */
  add(id: string): Promise<void>;
  /** Resolves once no delivery is in progress, except those whose filter backs off. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Builds deliveries in groups. Those with a filter go through the lanes first. */
export function openDeliveryBuilder(
  services: Services,
  lanes: FilterLanes = openFilterLanes(),
): DeliveryBuilder {
  const largeGroups = openLargeGroups(services, (group) =>
    buildDeliveries(services, { backlog, largeGroups, maxSize: 1 }, group),
  );
  const groups = createBatcher<Evaluated, undefined>({
    flush: (group) => buildDeliveries(services, { backlog, largeGroups, maxSize }, group),
    maxItems: maxGroupItems,
  });
  const backlog: FilterBacklog = openFilterBacklog(services, lanes, (evaluated) =>
    Promise.all(evaluated.map(groups.add)),
  );
  return {
    add: (id) => groups.add({ id }),
    async idle() {
      await groups.idle();
      await backlog.idle();
      await largeGroups.idle();
    },
    async close() {
      await backlog.close();
      await largeGroups.close();
    },
  };
}

/** Decides deliveries that need no filter or have a result. The others wait in the backlog. */
async function buildDeliveries(
  services: Services,
  { backlog, largeGroups, maxSize }: { backlog: FilterBacklog; largeGroups: LargeGroups; maxSize: number },
  group: Evaluated[],
): Promise<undefined[]> {
  const { db, events, metrics } = services;
  let ids = group.map(({ id }) => id);
  const results = new Map(group.flatMap(({ id, result }) => (result ? [[id, result] as const] : [])));
  let mayHaveStaleResults = false; // seldom: most filters are the same as a moment ago
  for (;;) {
    const unknown = mayHaveStaleResults ? ids : ids.filter((id) => !results.has(id));
    const filtered = unknown.length > 0 ? await listFilteredDeliveries(db, { ids: unknown }) : [];
    const waiting = filtered.filter(({ delivery, filter }) => results.get(delivery.id)?.filter !== filter);
    const waitingIds = new Set(waiting.map(({ delivery }) => delivery.id));
    const decidable = ids.filter((id) => !waitingIds.has(id));
    try {
      if (decidable.length > 0) {
        const decide = (tx: Tx) => decideAndBuild(tx, services, { ids: decidable, results, maxSize });
        const decided = await db.transaction(decide);
        events.publish(decided.changed);
        for (const [status, count] of Object.entries(decided.counts))
          metrics.deliveriesDecided.inc({ status }, count);
        for (const { delaySeconds } of decided.built) metrics.deliveryToBuildSeconds.observe(delaySeconds);
        traceDecided(services, decided);
      }
      backlog.add(waiting);
      return group.map(() => undefined);
    } catch (error) {
      if (error instanceof TooManyJobs) ids = defer(largeGroups, error, { group, ids });
      else if (error instanceof StaleFilterResult) mayHaveStaleResults = true;
      else throw error;
    }
  }
}

/** @returns the ids of the other deliveries */
function defer(
  largeGroups: LargeGroups,
  { excesses }: TooManyJobs,
  { group, ids }: { group: Evaluated[]; ids: string[] },
): string[] {
  const evaluated = new Map(group.map((each) => [each.id, each]));
  const deferred = new Set<string>();
  for (const { organizationId, parts } of excesses)
    for (const part of parts) {
      const own = part.flatMap(({ deliveryId }) => evaluated.get(deliveryId ?? "") ?? []);
      for (const { id } of own) deferred.add(id);
      largeGroups.add(organizationId, own);
    }
  return ids.filter((id) => !deferred.has(id));
}

/** Rolls back: the filter was changed or added meanwhile. */
class StaleFilterResult extends Error {
  override readonly name = "StaleFilterResult";
}

async function decideAndBuild(
  tx: Tx,
  services: Services,
  { ids, results, maxSize }: { ids: string[]; results: Map<string, FilterResult>; maxSize: number },
) {
  const deliveries = await decideIfWaiting(tx, { ids });
  if (deliveries.length === 0) return { counts: {}, built: [], outcomes: [], changed: [] };
  deliveries.sort((a, b) => (a.id < b.id ? -1 : 1)); // sorted: number builds in order of arrival

  const triggerIds = [...new Set(deliveries.map(({ triggerId }) => triggerId))];
  const triggers = await listTriggersById(tx, triggerIds);
  const triggerOf = new Map(triggers.map((trigger) => [trigger.id, trigger]));
  const planOf = new Map(triggers.map((trigger) => [trigger.id, planBuild(trigger)]));
  const requests: BuildRequest[] = [];
  const outcomes: Outcome[] = [];
  for (const delivery of deliveries) {
    const reason = reasonNotToRun(triggerOf.get(delivery.triggerId), results.get(delivery.id));
    if (reason) outcomes.push({ id: delivery.id, status: "not_run", reason });
    else requests.push(requestBuild(delivery, planOf));
  }

  const made = await createBuilds(tx, services, requests, services.clock.now(), maxSize);
  const { builds, refused, unwanted, changed } = made;
  for (const request of refused) outcomes.push(outcomeOfRefused(request, unwanted.get(request)));
  await storeOutcomes(tx, outcomes);
  const topics = triggers.map(({ id }) => `trigger:${id}` as const);
  return {
    counts: {
      build_created: builds.length,
      not_run: countOf(outcomes, "not_run"),
      failed: countOf(outcomes, "failed"),
    },
    built: builds.map(({ id, number, deliveryId, createdAt }) => ({
      ...{ id, number, createdAt },
      deliveryId: deliveryId ?? "",
      delaySeconds: secondsBetween(timeOfId(deliveryId ?? ""), createdAt),
    })),
    outcomes,
    changed: [...changed, ...topics],
  };
}

type Decided = Awaited<ReturnType<typeof decideAndBuild>>;

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
      ...{ name: "build", traceId: deliveryId, subject: id, parent: { name: "decide" } },
      ...{ start: createdAt, end, attributes: { build: id, number } },
    });
  }
}

/** Returns undefined to build. @throws StaleFilterResult */
function reasonNotToRun(
  trigger: Trigger | undefined,
  result: FilterResult | undefined,
): DeliveryReason | undefined {
  const filter = trigger?.filter ?? null;
  if (filter === null) return undefined;
  if (result?.filter !== filter) throw new StaleFilterResult();
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
