import { Refusal } from "../../refusal.ts";
import type { Services } from "../../runtime/services.ts";
import { type Delivery, listFilteredDeliveries } from "../deliveries/store.ts";
import { type EncodedPayload, listEncodedPayloads } from "../payloads/store.ts";
import type { Trigger } from "../store.ts";
import { requireDelivery } from "../triggers.ts";
import { compileFilter, type FilterOutcome } from "./compile.ts";
import type { FilterInput } from "./evaluate.ts";
import type { FilterEvaluator } from "./evaluator.ts";

export interface FilterResult {
  /** The result is stale once the trigger's filter differs. */
  filter: string;
  outcome: FilterOutcome;
}

/** Of payloads in memory. */
const maxBytesAtOnce = 16 * 1024 * 1024;

/** Results by delivery id. */
export async function evaluateFilters(
  { db }: Services,
  evaluator: FilterEvaluator,
  ids: string[],
): Promise<Map<string, FilterResult>> {
  const results = new Map<string, FilterResult>();
  const waiting = await listFilteredDeliveries(db, { ids });
  for (const group of groupBySize(waiting)) {
    const payloads = await listEncodedPayloads(
      db,
      group.map(({ delivery }) => delivery.id),
    );
    const payloadOf = new Map(payloads.map((payload) => [payload.deliveryId, payload]));
    await Promise.all(
      group.map(async ({ delivery, filter }) => {
        if (filter === null) return;
        const payload = payloadOf.get(delivery.id);
        // Decided and evicted meanwhile: the outcome is not used.
        const outcome = payload
          ? await evaluator.evaluate(toFilterInput(filter, delivery, payload))
          : { error: "The payload is gone" };
        results.set(delivery.id, { filter, outcome });
      }),
    );
  }
  return results;
}

function groupBySize<Item extends { delivery: Delivery }>(items: Item[]): Item[][] {
  const groups: Item[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    bytes += item.delivery.size;
    if (bytes > maxBytesAtOnce) {
      groups.push([]);
      bytes = item.delivery.size;
    }
    groups.at(-1)?.push(item);
  }
  return groups;
}

function toFilterInput(expression: string, delivery: Delivery, payload: EncodedPayload): FilterInput {
  const { id, receivedAt, size } = delivery;
  const { codec, bytes } = payload.body;
  return { expression, id, receivedAt, headers: payload.headers, body: bytes, codec, size };
}

/** @throws Refusal 404, 422 when the payload is gone */
export async function testFilter(
  { db }: Services,
  evaluator: FilterEvaluator,
  trigger: Trigger,
  { expression, deliveryId }: { expression: string; deliveryId: string },
): Promise<FilterOutcome> {
  const delivery = await requireDelivery(db, trigger, deliveryId);
  const compiled = compileFilter(expression);
  if ("problem" in compiled) return { error: compiled.problem };
  const [payload] = await listEncodedPayloads(db, [delivery.id]);
  if (!payload) throw new Refusal(422, "The payload of this delivery is no longer kept");
  return evaluator.evaluate(toFilterInput(expression, delivery, payload));
}
