import { excerpt } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { maxChanges, type Reading } from "../../sources/happened.ts";
import type { DeliveryReason } from "../../vocabulary.ts";
import type { Delivery } from "../deliveries/store.ts";
import { openFilterEvaluator, readingOf, takeFilterTurn, toFilterInput } from "../filter/evaluator.ts";
import { listEncodedPayloads } from "../payloads/store.ts";
import type { Trigger } from "../store.ts";

const evaluate = openFilterEvaluator();

/**
 * Reads the event of a delivery of a provider, in the organization's turn on the threads.
 * @returns undefined if the payload is gone
 * @throws Refusal 503
 */
export async function readDelivery(
  { db }: Pick<Services, "db">,
  { organizationId, trigger, delivery }: { organizationId: string; trigger: Trigger; delivery: Delivery },
  signal: AbortSignal = new AbortController().signal,
): Promise<Reading | undefined> {
  const read = async () => {
    const [payload] = await listEncodedPayloads(db, { deliveryIds: [delivery.id] });
    if (!payload) return undefined;
    const event = { triggerType: trigger.type, name: delivery.event ?? "" };
    const [evaluation] = await evaluate([toFilterInput({ event }, delivery, payload)], signal);
    return evaluation && readingOf(evaluation.outcome);
  };
  return takeFilterTurn(organizationId, delivery.size, read, signal);
}

/**
 * Says why an event, or a change of it, is not built: a sentence without its full stop.
 * @param reason why it made no build
 */
export function describeReading(reading: Reading, reason: DeliveryReason | null): string | undefined {
  if ("problem" in reading) return reading.problem;
  const { happened, repository } = reading;
  if (reason === "other_repository")
    return `${excerpt(repository[0] ?? "")}. If that is its new name, change the repository of the pipeline, then build this delivery again`;
  if (happened.type !== "push" || !happened.leftOut) return undefined;
  return `Only the first ${maxChanges} of ${maxChanges + happened.leftOut} changes are built`;
}
