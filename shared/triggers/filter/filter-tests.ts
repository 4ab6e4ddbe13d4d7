import { Refusal, unavailable } from "../../refusal.ts";
import type { Services } from "../../runtime/services.ts";
import { openTurns, TurnRefused } from "../../runtime/turns.ts";
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

export interface FilterTests {
  /**
   * @param signal ends the test: its caller disconnected
   * @throws Refusal 404, 422 when the payload is gone, 429, 503; the signal's reason
   */
  run(test: FilterTest, signal: AbortSignal): Promise<FilterOutcome>;
  close(): Promise<void>;
}

const maxWaitingPerOrganization = 2;
const maxWaiting = 100;
const retryAfterSeconds = 5;

/** Runs one test of an organization at a time. Its payload is in memory only while it runs. */
export function openFilterTests({ db }: Services, lanes: FilterLanes = openFilterLanes()): FilterTests {
  const turns = openTurns({
    maxRunningPerOwner: 1,
    maxWaitingPerOwner: maxWaitingPerOrganization,
    maxWaiting,
  });

  return {
    async run({ organizationId, trigger, expression, deliveryId }, signal) {
      const evaluate = async () => {
        const delivery = await requireDelivery(db, trigger, deliveryId);
        const compiled = compileFilter(expression);
        if ("problem" in compiled) return { error: compiled.problem };
        return lanes.take(
          organizationId,
          async (evaluateInLane) => {
            const [payload] = await listEncodedPayloads(db, [delivery.id]);
            if (!payload) throw new Refusal(422, "The payload of this delivery is no longer kept");
            const [evaluation] = await evaluateInLane([toFilterInput(expression, delivery, payload)], signal);
            return (evaluation as Evaluation).outcome;
          },
          signal,
        );
      };
      try {
        return await turns.take(organizationId, evaluate, signal);
      } catch (error) {
        throw error instanceof TurnRefused ? refusalOf(error) : error;
      }
    },
    close: lanes.close,
  };
}

function refusalOf({ bound }: TurnRefused): Refusal {
  if (bound === "all") return unavailable(retryAfterSeconds);
  return new Refusal(429, "The organization has too many filter tests at once. Please try again later.", {
    headers: { "Retry-After": String(retryAfterSeconds) },
  });
}
