import { Refusal } from "../../refusal.ts";
import type { Services } from "../../runtime/services.ts";
import { type Delivery, listFilteredDeliveries } from "../deliveries/store.ts";
import { findPayload, listPayloads, type Payload } from "../payloads/store.ts";
import type { Trigger } from "../store.ts";
import { requireDelivery } from "../triggers.ts";
import { compileFilter, type FilterOutcome } from "./compile.ts";
import type { FilterEvaluator } from "./evaluator.ts";

/** What the filter of its trigger says of a delivery. */
export interface FilterResult {
  /** The expression that was asked: when the trigger has another by now, the judgement is stale. */
  filter: string;
  outcome: FilterOutcome;
}

/** Bodies that are in memory at a time. */
const bytesAtOnce = 16 * 1024 * 1024;

/** Ask the filters of these deliveries' triggers, of those that wait and have one. */
export async function evaluateFilters(
  { db }: Services,
  filters: FilterEvaluator,
  ids: string[],
): Promise<Map<string, FilterResult>> {
  const judgements = new Map<string, FilterResult>();
  const waiting = await listFilteredDeliveries(db, ids);
  for (const group of groupsBySize(waiting)) {
    const payloads = await listPayloads(
      db,
      group.map(({ delivery }) => delivery.id),
    );
    const bodies = new Map(payloads.map((payload) => [payload.deliveryId, payload]));
    await Promise.all(
      group.map(async ({ delivery, filter }) => {
        if (filter === null) return;
        const payload = bodies.get(delivery.id);
        // Without a payload it was decided, and evicted, since it was listed: the outcome is not looked at.
        const outcome = payload
          ? await filters.evaluate(toFilterInput(filter, delivery, payload))
          : { error: "The payload is gone" };
        judgements.set(delivery.id, { filter, outcome });
      }),
    );
  }
  return judgements;
}

function groupsBySize<Item extends { delivery: Delivery }>(items: Item[]): Item[][] {
  const groups: Item[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    bytes += item.delivery.size;
    if (bytes > bytesAtOnce) {
      groups.push([]);
      bytes = item.delivery.size;
    }
    groups.at(-1)?.push(item);
  }
  return groups;
}

function toFilterInput(expression: string, delivery: Delivery, payload: Payload) {
  const { id, receivedAt } = delivery;
  return { expression, id, receivedAt, headers: payload.headers, body: payload.body };
}

/**
 * What an expression, which need not be saved, says of a delivery of the trigger.
 * @throws Refusal 404, 422 when the delivery's payload is gone
 */
export async function testFilter(
  { db }: Services,
  filters: FilterEvaluator,
  trigger: Trigger,
  { expression, deliveryId }: { expression: string; deliveryId: string },
): Promise<FilterOutcome> {
  const delivery = await requireDelivery(db, trigger, deliveryId);
  const compiled = compileFilter(expression);
  if ("problem" in compiled) return { error: compiled.problem };
  const payload = await findPayload(db, delivery.id);
  if (!payload) throw new Refusal(422, "The payload of this delivery is no longer kept");
  return filters.evaluate(toFilterInput(expression, delivery, payload));
}
