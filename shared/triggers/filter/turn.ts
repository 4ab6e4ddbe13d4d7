import type { Services } from "../../process/services.ts";
import { type FilteredDelivery, listFilteredDeliveries } from "../deliveries/store.ts";
import { type EncodedPayload, listEncodedPayloads } from "../payloads/store.ts";
import { isBackingOff, recordMiss, startRetry } from "./back-off.ts";
import type { FilterOutcome } from "./compile.ts";
import { type FilterResult, toFilterInput } from "./deliveries.ts";
import type { FilterInput } from "./evaluate.ts";
import type { Evaluation } from "./evaluator.ts";
import type { Evaluate } from "./lanes.ts";
import { deleteMisses, type FilterMisses } from "./misses-store.ts";

/** After it, a turn starts no further evaluation. */
export const maxTurnMs = 100;

/** A delivery has no result if its filter is gone, or if another worker decided it. */
export interface Evaluated {
  id: string;
  result?: FilterResult;
}

/** An organization's turn. */
export class FilterTurn {
  /** The deliveries that this turn evaluated. Others are for a later turn. */
  readonly evaluated: Evaluated[] = [];
  /** Filters that back off now, by trigger id. */
  readonly backingOff = new Map<string, FilterMisses>();
  /** Triggers whose misses ended. */
  readonly #inTime = new Set<string>();
  readonly #services: Services;
  readonly #evaluate: Evaluate;

  constructor(services: Services, evaluate: Evaluate) {
    this.#services = services;
    this.#evaluate = evaluate;
  }

  /** Evaluates at least one delivery, or none if filters back off or one of several deliveries misses its deadline. */
  async evaluateAll(ids: string[]): Promise<void> {
    const { db } = this.#services;
    const rows = new Map((await listFilteredDeliveries(db, { ids })).map((row) => [row.delivery.id, row]));
    const encoded = await listEncodedPayloads(db, { deliveryIds: ids });
    const payloads = new Map(encoded.map((each) => [each.deliveryId, each]));
    const until = performance.now() + maxTurnMs;
    const together: Candidate[] = [];
    const alone: Candidate[] = [];
    for (const id of ids) {
      const row = rows.get(id);
      const payload = payloads.get(id);
      if (!row) this.evaluated.push({ id });
      else if (!payload)
        this.#add(row, { error: "The payload is gone" }); // evicted, so decided: it is not used
      else if (row.misses || ids.length === 1) alone.push({ row, payload });
      else together.push({ row, payload });
    }

    for (let done = 0; done < together.length && performance.now() <= until; ) {
      const count = await this.#evaluateFirst(together.slice(done));
      if (count === 0) return; // the organization is slow now: its next turns are of one delivery
      done += count;
    }
    for (const candidate of alone) {
      if (performance.now() > until) return;
      if (!this.backingOff.has(candidate.row.delivery.triggerId)) await this.#evaluateAlone(candidate);
    }
  }

  /** @returns the number of evaluated candidates */
  async #evaluateFirst(candidates: Candidate[]): Promise<number> {
    const evaluations = await this.#evaluate(candidates.map(inputOf));
    for (const [index, { outcome }] of evaluations.entries())
      this.#add((candidates[index] as Candidate).row, outcome);
    return evaluations.length;
  }

  /** Counts misses of the deadline. */
  async #evaluateAlone(candidate: Candidate): Promise<void> {
    const { db, clock } = this.#services;
    const { row } = candidate;
    const { delivery, misses } = row;
    const { triggerId } = delivery;
    const isWaiting = isBackingOff(misses) && !this.#inTime.has(triggerId);
    if (isWaiting && !(await startRetry(db, misses, clock.now()))) {
      this.backingOff.set(triggerId, misses);
      return;
    }

    const [evaluation] = (await this.#evaluate([inputOf(candidate)])) as [Evaluation];
    this.#add(row, evaluation.outcome);
    if (evaluation.isLate) await this.#countMiss({ triggerId, filter: filterOf(row) });
    else {
      this.#inTime.add(triggerId);
      if (misses) await db.transaction((tx) => deleteMisses(tx, triggerId));
    }
  }

  async #countMiss(missed: Pick<FilterMisses, "triggerId" | "filter">): Promise<void> {
    const { db, clock } = this.#services;
    const misses = await recordMiss(db, missed, clock.now());
    if (isBackingOff(misses)) this.backingOff.set(misses.triggerId, misses);
  }

  #add(row: FilteredDelivery, outcome: FilterOutcome): void {
    this.evaluated.push({ id: row.delivery.id, result: { filter: filterOf(row), outcome } });
  }
}

interface Candidate {
  row: FilteredDelivery;
  payload: EncodedPayload;
}

function inputOf({ row, payload }: Candidate): FilterInput {
  return toFilterInput(filterOf(row), row.delivery, payload);
}

/** The query leaves out triggers without a filter. */
function filterOf({ filter }: FilteredDelivery): string {
  return filter ?? "";
}
