import { secondMs } from "../../durations.ts";
import { newId } from "../../ids.ts";
import { Refusal, tooMany, unavailable } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { shares } from "../../sharing/bounds.ts";
import { Shares } from "../../sharing/shares.ts";
import type { StoredHeader } from "../../vocabulary.ts";
import { checkBody } from "../deliveries/check.ts";
import { type Delivery, listDeliveriesPage } from "../deliveries/store.ts";
import { listEncodedPayloads } from "../payloads/store.ts";
import type { Trigger } from "../store.ts";
import { requireDelivery } from "../triggers.ts";
import { compileFilter, type FilterOutcome } from "./compile.ts";
import type { ThreadInput } from "./evaluate.ts";
import {
  type EvaluateFilters,
  type Evaluation,
  openFilterEvaluator,
  takeFilterTurn,
  toFilterInput,
} from "./evaluator.ts";

export interface FilterTest {
  organizationId: string;
  trigger: Trigger;
  expression: string;
  deliveryId: string;
  explains?: boolean;
}

/** A delivery that nobody sent. */
export interface ExampleTest extends Pick<FilterTest, "organizationId" | "expression"> {
  headers: StoredHeader[];
  payload: string;
}

/** `no_time`: the deadline of the test passed. */
export type Trial = FilterOutcome | { untried: "too_large" | "no_payload" | "no_time" };

export interface FilterTestOptions {
  evaluate?: EvaluateFilters;
  /** The limit of the received payloads of one test, without the chosen one. */
  maxLatestBytes?: number;
  /** The deadline of the latest deliveries together. The chosen delivery is tried first. */
  latestDeadlineMs?: number;
}

export const maxLatestToTry = 20;

const tests = new Shares(shares.filterTests);
const evaluateFilters = openFilterEvaluator();

/** A test that would be refused needs no trigger and no body. @throws Refusal 429, 503 */
export function requireRoomToTest(organization: string): void {
  tests.release(takeSlot(organization));
}

function takeSlot(organization: string) {
  const slot = tests.take({ organization });
  if (slot === "owner")
    throw tooMany("The organization has too many filter tests at once. Please try again later.");
  if (slot === "all") throw unavailable();
  return slot;
}

/**
 * Evaluates a filter on a delivery. One payload of a test is in memory, and only while it is tried.
 * @param signal ends the test: its caller disconnected
 * @throws Refusal 404, 422 when the payload is gone, 429, 503; the signal's reason
 */
export function testFilter(
  services: Services,
  test: FilterTest,
  signal: AbortSignal,
): Promise<FilterOutcome> {
  return withSlot(test, () => tryChosen(services, test, { evaluate: evaluateFilters, signal }));
}

/** Like `testFilter`, and tries the trigger's latest deliveries too. The chosen one comes with the values that were read. */
export function testFilterOnLatest(
  services: Services,
  test: FilterTest,
  signal: AbortSignal,
  {
    evaluate = evaluateFilters,
    maxLatestBytes = 10 * 1024 * 1024,
    latestDeadlineMs = 10 * secondMs,
  }: FilterTestOptions = {},
): Promise<{ chosen: FilterOutcome; latest: { delivery: Delivery; trial: Trial }[] }> {
  return withSlot(test, async () => {
    const chosen = await tryChosen(services, { ...test, explains: true }, { evaluate, signal });
    if ("problem" in compileFilter(test.expression)) return { chosen, latest: [] };
    const deadline = AbortSignal.timeout(latestDeadlineMs);
    const either = AbortSignal.any([signal, deadline]);
    const page = await listDeliveriesPage(services.db, test.trigger.id, { limit: maxLatestToTry });
    let bytes = 0;
    const tryOne = async (delivery: Delivery): Promise<Trial> => {
      if (delivery.id === test.deliveryId) return chosen;
      if (deadline.aborted) return { untried: "no_time" };
      if (bytes + delivery.size > maxLatestBytes) return { untried: "too_large" };
      bytes += delivery.size;
      try {
        const outcome = await tryDelivery(services, test, delivery, { evaluate, signal: either });
        return outcome ?? { untried: "no_payload" };
      } catch (error) {
        if (signal.aborted || !deadline.aborted) throw error;
        return { untried: "no_time" };
      }
    };
    const latest: { delivery: Delivery; trial: Trial }[] = [];
    for (const delivery of page.slice(0, maxLatestToTry))
      latest.push({ delivery, trial: await tryOne(delivery) });
    return { chosen, latest };
  });
}

/**
 * Evaluates a filter on an example, with the values that were read.
 * @throws DeliveryRefusal 400 for the payload; Refusal 429, 503; the signal's reason
 */
export function testFilterOnExample(
  { config, clock }: Services,
  test: ExampleTest,
  signal: AbortSignal,
): Promise<FilterOutcome> {
  const { organizationId, expression, headers, payload } = test;
  return withSlot(test, async () => {
    const given = { bytes: Buffer.from(payload) };
    const body = await checkBody(organizationId, given, { maxDepth: config.maxPayloadDepth }, signal);
    const now = clock.now();
    const delivery = { id: newId(now), receivedAt: now, size: body.size };
    const input = toFilterInput({ expression, explains: true }, delivery, { headers, body });
    const run = () => evaluateOne(input, { evaluate: evaluateFilters, signal });
    return takeFilterTurn(organizationId, body.size, run, signal);
  });
}

async function withSlot<Result>(
  { organizationId }: Pick<FilterTest, "organizationId">,
  run: () => Promise<Result>,
): Promise<Result> {
  const slot = takeSlot(organizationId);
  try {
    return await run();
  } finally {
    tests.release(slot);
  }
}

interface Trying {
  evaluate: EvaluateFilters;
  signal: AbortSignal;
}

async function tryChosen(services: Services, test: FilterTest, trying: Trying): Promise<FilterOutcome> {
  const delivery = await requireDelivery(services.db, test.trigger, test.deliveryId);
  const compiled = compileFilter(test.expression);
  if ("problem" in compiled) return { error: compiled.problem };
  const outcome = await tryDelivery(services, test, delivery, trying);
  if (!outcome) throw new Refusal(422, "The payload of this delivery is no longer kept");
  return outcome;
}

/** @returns undefined if the payload is gone */
function tryDelivery(
  { db }: Services,
  { organizationId, expression, explains = false }: FilterTest,
  delivery: Delivery,
  trying: Trying,
): Promise<FilterOutcome | undefined> {
  const run = async () => {
    const [payload] = await listEncodedPayloads(db, { deliveryIds: [delivery.id] });
    return payload && evaluateOne(toFilterInput({ expression, explains }, delivery, payload), trying);
  };
  return takeFilterTurn(organizationId, delivery.size, run, trying.signal);
}

async function evaluateOne(input: ThreadInput, { evaluate, signal }: Trying): Promise<FilterOutcome> {
  const [evaluation] = await evaluate([input], signal);
  return (evaluation as Evaluation).outcome as FilterOutcome; // not of an event
}
