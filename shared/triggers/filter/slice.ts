import { hourMs, secondMs } from "../../durations.ts";
import { lowestIdAt } from "../../ids.ts";
import type { Services } from "../../services/services.ts";
import type { Reading } from "../../sources/happened.ts";
import {
  delayDue,
  type FilteredDelivery,
  listFilteredDeliveries,
  lockDue,
  setDue,
} from "../deliveries/due-store.ts";
import type { Delivery } from "../deliveries/store.ts";
import type { HostEvent } from "../events/host-event.ts";
import { inOrderOfProviders } from "../events/order.ts";
import { listEncodedPayloads } from "../payloads/store.ts";
import { isBackingOff, recordMiss, startRetry } from "./back-off.ts";
import type { FilterOutcome } from "./compile.ts";
import type { EvaluationResult, ThreadInput } from "./evaluate.ts";
import { type EvaluateFilters, largeBytes, readingOf, toFilterInput } from "./evaluator.ts";
import { deleteMisses, type FilterMisses } from "./misses-store.ts";

/** The verdict of a filter, or what a source host says has happened. */
export type Result = FilterVerdict | { reading: Reading };

export interface FilterVerdict {
  /** The result is stale once the trigger's filter differs. */
  filter: string;
  outcome: FilterOutcome;
}

/** A delivery has no result if its filter is gone, or if another worker decided it. */
export interface Evaluated {
  id: string;
  result?: Result;
}

/** A worker takes the deliveries of a slice for so long. Another one takes over from a worker that was killed. */
export const takenMs = 30 * secondMs;
/** A delivery that has waited this long for a filter that backs off is decided without it. */
const maxBackOffMs = hourMs;
const backedOffTooLong = { error: "The filter missed its deadline again and again" };
/** A change of the filter ends the back-off: its deliveries are looked at again after so long. */
const maxDelayMs = 50 * secondMs;
const maxSliceDeliveries = 500;

interface SliceOptions {
  organizationId: string;
  /** The most deliveries. */
  limit: number;
  /** The size of the first delivery if it is large. */
  bytes: number;
  /** Deliveries that this process decides meanwhile. */
  deciding: readonly string[];
  evaluate: EvaluateFilters;
  signal: AbortSignal;
}

/** The result of a slice. The next one has its `limit` and `bytes`. */
interface Slice extends Pick<SliceOptions, "limit" | "bytes"> {
  evaluated: Evaluated[];
}

/** Evaluates due deliveries of an organization, in its turn. @returns undefined if nothing is due */
export async function evaluateSlice(services: Services, options: SliceOptions): Promise<Slice | undefined> {
  const { limit } = options;
  const { taken, bytes } = await take(services, options);
  if (bytes > 0) return { evaluated: [], limit, bytes };
  if (taken.length === 0) return undefined;
  try {
    const { evaluated, backingOff } = await evaluateTaken(services, taken, options);
    const done = new Set(evaluated.map(({ id }) => id));
    const left = taken.filter(({ id }) => !done.has(id));
    const overdue = await giveBack(services, left, backingOff);
    const isAll = left.length === 0;
    const next = isAll ? Math.min(2 * limit, maxSliceDeliveries) : Math.max(1, evaluated.length);
    return { evaluated: [...evaluated, ...overdue], limit: next, bytes: 0 };
  } catch (error) {
    await makeDue(services, taken).catch(() => {}); // they are due in half a minute
    throw error;
  }
}

/** Takes the first due deliveries, or none if the first is large and the turn is not for it. @returns the bytes of that */
function take(
  { db, clock }: Services,
  { organizationId, limit, bytes: expected, deciding }: SliceOptions,
): Promise<{ taken: Delivery[]; bytes: number }> {
  const now = clock.now();
  return db.transaction(async (tx) => {
    const locked = await lockDue(tx, { organizationId, isFiltered: true, now, limit });
    const due = await inOrderOfProviders(tx, locked, { deciding, isFiltered: true, now });
    const { size = 0 } = due[0] ?? {};
    if (size > largeBytes && expected <= largeBytes) return { taken: [], bytes: size };
    let bytes = 0;
    const fits = ({ size }: Delivery, index: number) => {
      bytes += size;
      return index === 0 || bytes <= largeBytes;
    };
    const taken = due.filter(fits);
    await setDue(tx, { ids: idsOf(taken), dueAt: new Date(now.getTime() + takenMs) });
    return { taken, bytes: 0 };
  });
}

interface Candidate {
  row: FilteredDelivery;
  input: ThreadInput;
}

/** @returns backingOff: the filters that back off now, by trigger id */
async function evaluateTaken(
  services: Services,
  taken: Delivery[],
  { evaluate, signal }: SliceOptions,
): Promise<{ evaluated: Evaluated[]; backingOff: Map<string, FilterMisses> }> {
  const { db, clock } = services;
  const ids = idsOf(taken);
  const rows = new Map((await listFilteredDeliveries(db, { ids })).map((row) => [row.delivery.id, row]));
  const encoded = await listEncodedPayloads(db, { deliveryIds: ids });
  const payloads = new Map(encoded.map((each) => [each.deliveryId, each]));
  const evaluated: Evaluated[] = [];
  const candidates: Candidate[] = [];
  const backingOff = new Map<string, FilterMisses>();
  let isRetrying = false;
  for (const id of ids) {
    const row = rows.get(id);
    const payload = payloads.get(id);
    if (!row) evaluated.push({ id });
    else if (!payload)
      evaluated.push(resultOf(row, { error: "The payload is gone" })); // evicted, so decided: it is not used
    else {
      const { delivery, misses } = row;
      const candidate = { row, input: toFilterInput(taskOf(row), delivery, payload) };
      if (!isBackingOff(misses)) candidates.push(candidate);
      else if (isRetrying || backingOff.has(delivery.triggerId)) continue;
      else if (await startRetry(db, misses, clock.now())) {
        isRetrying = true; // the first is always evaluated, so a slice tries one filter
        candidates.unshift(candidate);
      } else backingOff.set(delivery.triggerId, misses);
    }
  }
  if (candidates.length === 0) return { evaluated, backingOff };

  const inTime = new Set<string>();
  const evaluations = await evaluate(
    candidates.map(({ input }) => input),
    signal,
  );
  for (const [index, { outcome, isLate }] of evaluations.entries()) {
    const { row } = candidates[index] as Candidate;
    const { triggerId } = row.delivery;
    evaluated.push(resultOf(row, outcome));
    if (row.isProvider) continue;
    if (isLate) {
      const misses = await recordMiss(db, { triggerId, filter: filterOf(row) }, clock.now());
      if (isBackingOff(misses)) backingOff.set(triggerId, misses);
    } else if (row.misses) inTime.add(triggerId);
  }
  for (const triggerId of inTime) await db.transaction((tx) => deleteMisses(tx, triggerId));
  return { evaluated, backingOff };
}

/** Makes deliveries due again, later if their filter backs off. @returns deliveries that have waited too long for it */
async function giveBack(
  services: Services,
  left: Delivery[],
  backingOff: Map<string, FilterMisses>,
): Promise<Evaluated[]> {
  const overdue: Evaluated[] = [];
  for (const misses of backingOff.values()) {
    const ofTrigger = left.filter(({ triggerId }) => triggerId === misses.triggerId);
    overdue.push(...(await backOff(services, misses, ofTrigger)));
  }
  const others = left.filter(({ triggerId }) => !backingOff.has(triggerId));
  const firstDue = Math.min(...others.map(({ dueAt }) => dueAt.getTime()));
  await makeDue(services, others, new Date(firstDue)); // ahead of those that came after them
  return overdue;
}

async function makeDue({ db, clock }: Services, deliveries: Delivery[], dueAt = clock.now()): Promise<void> {
  if (deliveries.length === 0) return;
  await db.transaction((tx) => setDue(tx, { ids: idsOf(deliveries), dueAt }));
}

/** Delays deliveries of a trigger until its filter is tried again. @returns deliveries that have waited too long */
async function backOff(
  { db, clock }: Services,
  { filter, triggerId, retryAt }: FilterMisses,
  left: Delivery[],
): Promise<Evaluated[]> {
  const now = clock.now();
  const after = lowestIdAt(new Date(now.getTime() - maxBackOffMs));
  const until = new Date(Math.min(retryAt.getTime(), now.getTime() + maxDelayMs));
  const waiting = left.filter(({ id }) => id > after);
  await db.transaction(async (tx) => {
    await setDue(tx, { ids: idsOf(waiting), dueAt: until });
    await delayDue(tx, { triggerId, after, now, until }, maxSliceDeliveries);
  });
  const overdue = left.filter(({ id }) => id <= after);
  return overdue.map(({ id }) => ({ id, result: { filter, outcome: backedOffTooLong } }));
}

function taskOf(row: FilteredDelivery): { expression: string } | { event: HostEvent } {
  if (row.isProvider) return { event: { triggerType: row.triggerType, name: row.delivery.event ?? "" } };
  return { expression: filterOf(row) };
}

function resultOf(row: FilteredDelivery, outcome: EvaluationResult): Evaluated {
  const { id } = row.delivery;
  if (row.isProvider || "reading" in outcome) return { id, result: { reading: readingOf(outcome) } };
  return { id, result: { filter: filterOf(row), outcome } };
}

/** The query leaves out triggers of no provider that have no filter. */
function filterOf({ filter }: FilteredDelivery): string {
  return filter ?? "";
}

function idsOf(deliveries: Delivery[]): string[] {
  return deliveries.map(({ id }) => id);
}
