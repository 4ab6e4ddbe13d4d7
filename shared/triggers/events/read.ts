import { excerpt } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { maxChanges, type Reading } from "../../sources/happened.ts";
import type { DeliveryReason } from "../../vocabulary.ts";
import type { Delivery } from "../deliveries/store.ts";
import { openFilterEvaluator, readingOf, takeFilterTurn, toFilterInput } from "../filter/evaluator.ts";
import { listEncodedPayloads } from "../payloads/store.ts";
import type { Trigger } from "../store.ts";
import { readHostEvent } from "./host-event.ts";
import { isShort } from "./short.ts";

const evaluate = openFilterEvaluator();
const maxListedBytes = 64 * 1024;

/**
 * Reads the event of a delivery of a provider: a long one in the organization's turn on the threads.
 * @returns undefined if the payload is gone
 * @throws Refusal 503
 */
export async function readDelivery(
  { db }: Pick<Services, "db">,
  { organizationId, trigger, delivery }: { organizationId: string; trigger: Trigger; delivery: Delivery },
  signal: AbortSignal = new AbortController().signal,
): Promise<Reading | undefined> {
  const event = { triggerType: trigger.type, name: delivery.event ?? "" };
  const read = async () => {
    const [payload] = await listEncodedPayloads(db, { deliveryIds: [delivery.id] });
    if (!payload) return undefined;
    if (isShort(delivery)) return readHostEvent(payload.body, event);
    const [evaluation] = await evaluate([toFilterInput({ event }, delivery, payload)], signal);
    return evaluation && readingOf(evaluation.outcome);
  };
  return isShort(delivery) ? read() : takeFilterTurn(organizationId, delivery.size, read, signal);
}

/**
 * Reads events of deliveries of providers on the event loop, for a list: the short ones among the first, as long as they take
 * about a millisecond.
 * @param typeOf the type of a delivery's trigger
 */
export async function readShortDeliveries(
  { db }: Pick<Services, "db">,
  deliveries: Delivery[],
  typeOf: (delivery: Delivery) => string,
): Promise<Map<string, Reading>> {
  let bytes = 0;
  const read = deliveries.filter((delivery) => {
    bytes += delivery.size;
    return isShort(delivery) && bytes <= maxListedBytes;
  });
  if (read.length === 0) return new Map();
  const payloads = await listEncodedPayloads(db, { deliveryIds: read.map(({ id }) => id) });
  const bodies = new Map(payloads.map(({ deliveryId, body }) => [deliveryId, body]));
  return new Map(
    read.flatMap((delivery) => {
      const body = bodies.get(delivery.id);
      const event = { triggerType: typeOf(delivery), name: delivery.event ?? "" };
      return body ? [[delivery.id, readHostEvent(body, event)]] : [];
    }),
  );
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
