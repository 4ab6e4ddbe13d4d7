// A delivery's row is its task. While it waits, `due_at` says when it may be decided, and an index of waiting deliveries has
// them by organization. A look takes some of each.

import { type Excess, TooManyJobs } from "../../builds/making/too-many-jobs.ts";
import type { Tx } from "../../db/database.ts";
import { minuteMs, secondMs } from "../../durations.ts";
import type { Services } from "../../services/services.ts";
import { Background } from "../../sharing/background.ts";
import { Outage, openGatherer } from "../../sharing/gatherer.ts";
import { seeOwner } from "../../sharing/presence.ts";
import { laterWork } from "../../sharing/resources.ts";
import { type DueWork, openLooks, openVisits, type Visits } from "../../tasks/looks.ts";
import { partsOfDeliveries } from "../events/parts.ts";
import { type DueFilters, openDueFilters } from "../filter/due.ts";
import { type EvaluateFilters, openFilterEvaluator } from "../filter/evaluator.ts";
import { type Evaluated, type Result, takenMs } from "../filter/slice.ts";
import { type Decided, decideAndBuild, publishDecided } from "./build.ts";
import {
  findNextWaiting,
  lockDue,
  lockIfWaiting,
  makeDueIfAfter,
  setDue,
  type WaitingOf,
} from "./due-store.ts";
import type { Delivery } from "./store.ts";

const maxBatchItems = 500;
/** A transaction takes due deliveries of so many organizations. */
const maxOwners = 50;
/** Larger builds take turns: 500 jobs, a quarter of the most, take 10 ms, in which nobody else writes to SQLite. */
const maxCommonSize = 1 / 4;
/** A delivery that could not be decided is tried again after it. */
const retryMs = 10 * secondMs;
/** Deliveries behind an earlier one are looked at again after it, if they are many. */
const heldMs = secondMs;
/** No delivery waits for so long: a wrong clock made it due so late. */
const maxAheadMs = 2 * minuteMs;

/** By the id of a delivery. */
type Results = ReadonlyMap<string, Result>;

export function openDueDeliveries(
  services: Services,
  evaluate: EvaluateFilters = openFilterEvaluator(),
): DueWork {
  return new Builder(services, evaluate);
}

class Builder implements DueWork {
  readonly #services: Services;
  readonly #looks: DueWork;
  readonly #visits: Record<"direct" | "filtered", Visits<WaitingOf & { dueAt: Date }>>;
  readonly #filters: DueFilters;
  readonly #evaluated = openGatherer<Evaluated>({
    flush: (batch) => this.#decideEvaluated(batch).finally(() => this.#wakeForHeld()),
    maxItems: maxBatchItems,
  });
  /** Deliveries of providers may wait for earlier ones that this process decides now. */
  #areHeld = false;
  /** By organization whose large builds wait for turns in this process: deliveries that were put off meanwhile. */
  readonly #large = new Map<string, string[]>();
  readonly #background = new Background();

  constructor(services: Services, evaluate: EvaluateFilters) {
    this.#services = services;
    const visitsOf = (isFiltered: boolean) =>
      openVisits((after) => findNextWaiting(services.db, { after, isFiltered }));
    this.#visits = { direct: visitsOf(false), filtered: visitsOf(true) };
    const decide = (evaluated: Evaluated[]) => Promise.all(evaluated.map(this.#evaluated.add));
    this.#filters = openDueFilters(services, evaluate, decide);
    this.#looks = openLooks(services, () => this.#look(), [this.#filters, this.#background]);
  }

  wake(): void {
    this.#looks.wake();
  }

  idle(): Promise<void> {
    return this.#looks.idle();
  }

  async close(): Promise<void> {
    await this.#looks.close();
    await this.#filters.close();
    await this.#evaluated.flush();
    await this.#background.close();
  }

  /** @returns true if there may be more */
  async #look(): Promise<boolean> {
    const isMore = await this.#lookAtDirect();
    await this.#visits.filtered(async (waiting) => {
      if (await this.#isDue(waiting)) this.#filters.serve(waiting.organizationId);
      return "go on";
    });
    return isMore;
  }

  async #lookAtDirect(): Promise<boolean> {
    const owners: string[] = [];
    await this.#visits.direct(async (waiting) => {
      if (await this.#isDue(waiting)) {
        seeOwner(waiting.organizationId);
        owners.push(waiting.organizationId);
      }
      return owners.length < maxOwners ? "go on" : "stop";
    });
    if (owners.length === 0) return false;
    const share = Math.ceil(maxBatchItems / owners.length);
    return (await this.#decideDue(owners, share)) || owners.length === maxOwners;
  }

  async #isDue(waiting: WaitingOf & { dueAt: Date }): Promise<boolean> {
    const { db, clock } = this.#services;
    const now = clock.now();
    if (waiting.dueAt <= now) return true;
    const after = new Date(now.getTime() + maxAheadMs);
    if (waiting.dueAt <= after) return false;
    return (await db.transaction((tx) => makeDueIfAfter(tx, waiting, { after, now }, maxBatchItems))) > 0;
  }

  /** Decides due deliveries that need no thread: of each organization as many. @returns true if one may have more */
  async #decideDue(owners: string[], share: number): Promise<boolean> {
    const now = this.#services.clock.now();
    let ids: string[] = [];
    let isMore = false;
    const lock = async (tx: Tx) => {
      const due = [];
      for (const organizationId of owners) {
        const own = await lockDue(tx, { organizationId, isFiltered: false, now, limit: share });
        isMore ||= own.length === share;
        due.push(...own);
      }
      ids = due.map(({ id }) => id);
      return due;
    };
    try {
      const { held } = await this.#decide(lock, new Map());
      this.#areHeld = held.length > 0;
      if (isMore && this.#areHeld) await this.#putOff(held);
    } catch (error) {
      if (error instanceof Outage) throw error;
      for (const id of ids) await this.#decideAlone(id);
    }
    return isMore;
  }

  /** Deliveries that are held must not keep others from their place among the first. */
  async #putOff(ids: string[]): Promise<void> {
    const { db, clock } = this.#services;
    const dueAt = new Date(clock.now().getTime() + heldMs);
    await db.transaction((tx) => setDue(tx, { ids, dueAt }));
  }

  #wakeForHeld(): void {
    if (this.#areHeld) this.wake();
  }

  async #decideAlone(id: string): Promise<void> {
    const { db, clock, log } = this.#services;
    try {
      await this.#decideThese([id], new Map());
    } catch (error) {
      if (error instanceof Outage) throw error;
      log.warn({ err: error, deliveryId: id }, "a delivery could not be decided; it will be tried again");
      const dueAt = new Date(clock.now().getTime() + retryMs);
      await db.transaction((tx) => setDue(tx, { ids: [id], dueAt }));
    }
  }

  async #decideEvaluated(batch: Evaluated[]): Promise<void> {
    const results = new Map(batch.flatMap(({ id, result }) => (result ? [[id, result] as const] : [])));
    await this.#decideThese(
      batch.map(({ id }) => id),
      results,
    );
  }

  async #decideThese(ids: string[], results: Results, maxSize?: number): Promise<void> {
    await this.#decide((tx) => lockIfWaiting(tx, { ids }), results, maxSize);
  }

  /** Decides deliveries. Builds with too many jobs for a common transaction begin to be made in turns. */
  async #decide(
    lock: (tx: Tx) => PromiseLike<Delivery[]>,
    results: Results,
    maxSize = maxCommonSize,
  ): Promise<Decided> {
    const { decided, large } = await this.#services.db.transaction(async (tx) =>
      decideSmall(tx, this.#services, { deliveries: await lock(tx), results, maxSize }),
    );
    publishDecided(this.#services, decided);
    if (decided.isMore) this.wake();
    for (const each of large) this.#startLarge(each, results);
    return decided;
  }

  /** Builds them in turns. If some of the organization wait already, these are due again after them. */
  #startLarge({ organizationId, parts: excess }: Excess, results: Results): void {
    const parts = partsOfDeliveries(excess);
    const later = this.#large.get(organizationId);
    if (later) return void later.push(...parts.flat().slice(0, maxBatchItems - later.length));
    this.#large.set(organizationId, []);
    this.#background.add(this.#buildLarge(organizationId, parts, results));
  }

  async #buildLarge(organizationId: string, parts: string[][], results: Results): Promise<void> {
    const { signal } = this.#background;
    for (const ids of parts) {
      const build = () => this.#decideThese(ids, results, 1);
      await laterWork.take(organizationId, build, signal).catch((error) => {
        if (!signal.aborted)
          this.#services.log.warn({ err: error, organizationId }, "large builds were not made; they will be");
      });
    }
    const later = this.#large.get(organizationId) ?? [];
    this.#large.delete(organizationId);
    if (later.length > 0 && !signal.aborted) await this.#makeDue(later);
  }

  /** Without it they are due after half a minute, and hold up others of their pipelines so long. */
  async #makeDue(ids: string[]): Promise<void> {
    const { db, clock, log } = this.#services;
    try {
      await db.transaction((tx) => setDue(tx, { ids, dueAt: clock.now() }));
      this.wake();
    } catch (error) {
      log.debug({ err: error }, "deliveries with large builds wait a little longer");
    }
  }
}

/**
 * Decides all deliveries but those with too many jobs for a common transaction, which are due again after half a minute.
 * The transaction goes on: it has the deliveries of others, too.
 */
async function decideSmall(
  tx: Tx,
  services: Services,
  { deliveries, ...options }: Parameters<typeof decideAndBuild>[2],
): Promise<{ decided: Decided; large: Excess[] }> {
  const dueAt = new Date(services.clock.now().getTime() + takenMs);
  const large: Excess[] = [];
  for (let left = deliveries; ; ) {
    try {
      return { decided: await decideAndBuild(tx, services, { deliveries: left, ...options }), large };
    } catch (error) {
      if (!(error instanceof TooManyJobs)) throw error;
      const ids = new Set(error.excesses.flatMap(({ parts }) => partsOfDeliveries(parts).flat()));
      await setDue(tx, { ids: [...ids], dueAt });
      left = left.filter(({ id }) => !ids.has(id));
      large.push(...error.excesses);
    }
  }
}
