import type { Services } from "../../runtime/services.ts";
import { type FilteredDelivery, listFilteredDeliveries } from "../deliveries/store.ts";
import { type EncodedPayload, listEncodedPayloads } from "../payloads/store.ts";
import { isBackingOff, recordMiss, startRetry } from "./back-off.ts";
import { type FilterResult, toFilterInput } from "./deliveries.ts";
import type { Evaluate } from "./lanes.ts";
import { deleteMisses, type FilterMisses } from "./misses-store.ts";

/** After it, a turn starts no further evaluation. */
export const maxTurnMs = 100;

/** Without a result: the filter is gone, or another worker decided the delivery. */
export interface Evaluated {
  id: string;
  result?: FilterResult;
}

/** An organization's turn. */
export class FilterTurn {
  /** The others are for a later turn. */
  readonly evaluated: Evaluated[] = [];
  /** Filters that back off now, by trigger id. */
  readonly backingOff = new Map<string, FilterMisses>();
  readonly #services: Services;
  readonly #evaluate: Evaluate;

  constructor(services: Services, evaluate: Evaluate) {
    this.#services = services;
    this.#evaluate = evaluate;
  }

  /** Evaluates at least one delivery, unless its filter backs off. */
  async evaluateAll(ids: string[]): Promise<void> {
    const { db } = this.#services;
    const rows = new Map((await listFilteredDeliveries(db, { ids })).map((row) => [row.delivery.id, row]));
    const payloads = new Map((await listEncodedPayloads(db, ids)).map((each) => [each.deliveryId, each]));
    const until = performance.now() + maxTurnMs;
    for (const id of ids) {
      const row = rows.get(id);
      if (!row) this.evaluated.push({ id });
      else if (!this.backingOff.has(row.delivery.triggerId)) await this.#attempt(row, payloads.get(id));
      if (performance.now() > until) return;
    }
  }

  async #attempt(row: FilteredDelivery, payload: EncodedPayload | undefined): Promise<void> {
    const { db, clock } = this.#services;
    const { delivery, misses } = row;
    const { id, triggerId } = delivery;
    const filter = row.filter ?? "";
    // Decided and evicted meanwhile: the outcome is not used.
    if (!payload) {
      this.evaluated.push({ id, result: { filter, outcome: { error: "The payload is gone" } } });
      return;
    }
    if (isBackingOff(misses) && !(await startRetry(db, misses, clock.now()))) {
      this.backingOff.set(triggerId, misses);
      return;
    }

    const { outcome, isLate } = await this.#evaluate(toFilterInput(filter, delivery, payload));
    this.evaluated.push({ id, result: { filter, outcome } });
    if (isLate) await this.#countMiss({ triggerId, filter });
    else if (misses) await db.transaction((tx) => deleteMisses(tx, triggerId));
  }

  async #countMiss(missed: Pick<FilterMisses, "triggerId" | "filter">): Promise<void> {
    const { db, clock } = this.#services;
    const misses = await recordMiss(db, missed, clock.now());
    if (isBackingOff(misses)) this.backingOff.set(misses.triggerId, misses);
  }
}
