import { secondMs } from "../../durations.ts";
import type { Services } from "../../process/services.ts";
import { Refusal, tooMany, unavailable } from "../../refusal.ts";
import { shares } from "../../sharing/bounds.ts";
import { threads } from "../../sharing/resources.ts";
import { Shares } from "../../sharing/shares.ts";
import { type Delivery, listDeliveriesPage } from "../deliveries/store.ts";
import { listEncodedPayloads } from "../payloads/store.ts";
import type { Trigger } from "../store.ts";
import { requireDelivery } from "../triggers.ts";
import { compileFilter, type FilterOutcome } from "./compile.ts";
import { toFilterInput } from "./deliveries.ts";
import type { Evaluation } from "./evaluator.ts";
import { type FilterLanes, openFilterLanes } from "./lanes.ts";

export interface FilterTest {
  organizationId: string;
  trigger: Trigger;
  expression: string;
  deliveryId: string;
}

/** `no_time`: the deadline of the turn passed. */
export type Trial = FilterOutcome | { untried: "too_large" | "no_payload" | "no_time" };

export interface FilterTestOptions {
  lanes?: FilterLanes;
  /** The limit of the received payloads in one turn, without the chosen one. */
  maxLatestBytes?: number;
  /** The deadline of one turn, from its beginning. The chosen delivery is tried first. */
  latestDeadlineMs?: number;
}

export interface FilterTests {
  /** A test that would be refused needs no trigger and no body. @throws Refusal 429, 503 */
  requireRoom(organizationId: string): void;
  /**
   * @param signal ends the test: its caller disconnected
   * @throws Refusal 404, 422 when the payload is gone, 429, 503; the signal's reason
   */
  run(test: FilterTest, signal: AbortSignal): Promise<FilterOutcome>;
  /** Like `run`, and tries the trigger's latest deliveries too, in the same turn. */
  runOnLatest(
    test: FilterTest,
    signal: AbortSignal,
  ): Promise<{ chosen: FilterOutcome; latest: { delivery: Delivery; trial: Trial }[] }>;
  close(): Promise<void>;
}

export const maxLatestToTry = 20;

/** Runs one test of an organization at a time. One payload of it is in memory, and only while it is tried. */
export function openFilterTests(
  { db }: Services,
  {
    lanes = openFilterLanes(),
    maxLatestBytes = 10 * 1024 * 1024,
    latestDeadlineMs = 10 * secondMs,
  }: FilterTestOptions = {},
): FilterTests {
  const tests = new Shares(shares.filterTests);
  const takePlace = (organization: string) => {
    const place = tests.take({ organization });
    if (place === "owner") throw tooManyTests();
    if (place === "all") throw unavailable();
    return place;
  };
  const withPlace = async <Result>({ organizationId }: FilterTest, run: () => Promise<Result>) => {
    const place = takePlace(organizationId);
    try {
      return await run();
    } finally {
      tests.release(place);
    }
  };

  /** Undefined if the payload is gone. */
  const evaluate = ({ organizationId, expression }: FilterTest, delivery: Delivery, signal: AbortSignal) =>
    threads.take(
      organizationId,
      () =>
        lanes.take(
          organizationId,
          async (evaluateInLane) => {
            const [payload] = await listEncodedPayloads(db, { deliveryIds: [delivery.id] });
            if (!payload) return undefined;
            const [evaluation] = await evaluateInLane([toFilterInput(expression, delivery, payload)], signal);
            return (evaluation as Evaluation).outcome;
          },
          signal,
        ),
      signal,
    );

  const tryChosen = async (test: FilterTest, signal: AbortSignal): Promise<FilterOutcome> => {
    const delivery = await requireDelivery(db, test.trigger, test.deliveryId);
    const compiled = compileFilter(test.expression);
    if ("problem" in compiled) return { error: compiled.problem };
    const outcome = await evaluate(test, delivery, signal);
    if (!outcome) throw new Refusal(422, "The payload of this delivery is no longer kept");
    return outcome;
  };

  const tryLatest = async (test: FilterTest, chosen: FilterOutcome, signal: AbortSignal) => {
    if ("problem" in compileFilter(test.expression)) return { chosen, latest: [] };
    const deadline = AbortSignal.timeout(latestDeadlineMs);
    const either = AbortSignal.any([signal, deadline]);
    const page = await listDeliveriesPage(db, test.trigger.id, { limit: maxLatestToTry });
    let bytes = 0;
    const tryOne = async (delivery: Delivery): Promise<Trial> => {
      if (delivery.id === test.deliveryId) return chosen;
      if (deadline.aborted) return { untried: "no_time" };
      if (bytes + delivery.size > maxLatestBytes) return { untried: "too_large" };
      bytes += delivery.size;
      try {
        return (await evaluate(test, delivery, either)) ?? { untried: "no_payload" };
      } catch (error) {
        if (signal.aborted || !deadline.aborted) throw error;
        return { untried: "no_time" };
      }
    };
    const latest: { delivery: Delivery; trial: Trial }[] = [];
    for (const delivery of page.slice(0, maxLatestToTry))
      latest.push({ delivery, trial: await tryOne(delivery) });
    return { chosen, latest };
  };

  return {
    requireRoom: (organizationId) => tests.release(takePlace(organizationId)),
    run: (test, signal) => withPlace(test, () => tryChosen(test, signal)),
    runOnLatest: (test, signal) =>
      withPlace(test, async () => tryLatest(test, await tryChosen(test, signal), signal)),
    close: lanes.close,
  };
}

function tooManyTests(): Refusal {
  return tooMany("The organization has too many filter tests at once. Please try again later.");
}
