// A delivery's row is its task. While it waits, `due_at` says when it may be decided, and an index of waiting deliveries has
// them by organization. A look takes some of each.

import { type Excess, TooManyJobs } from "../../builds/making/too-many-jobs.ts";
import { minuteMs, secondMs } from "../../durations.ts";
import type { Services } from "../../services/services.ts";
import { Outage, openGatherer } from "../../sharing/gatherer.ts";
import { seeOwner } from "../../sharing/presence.ts";
import { laterWork } from "../../sharing/resources.ts";
import { Tasks } from "../../sharing/tasks.ts";
import { openLooks, openVisits, type Visits } from "../../tasks/looks.ts";
import { partsOfDeliveries } from "../events/parts.ts";
import { type DueFilters, openDueFilters } from "../filter/due.ts";
import { type EvaluateFilters, openFilterEvaluator } from "../filter/evaluator.ts";
import { type Evaluated, takenMs } from "../filter/slice.ts";
import { type Decided, decideAndBuild, publishDecided } from "./build.ts";
import {
  findNextWaiting,
  lockDue,
  lockIfWaiting,
  makeDueIfAfter,
  setDue,
  type WaitingOf,
} from "./due-store.ts";

export interface DueDeliveries {
  /** Decides what is due. A worker is woken by those who accept deliveries, and each second. */
  wake(): void;
  /** Resolves once no due delivery is in progress. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

const maxBatchItems = 500;
/** A transaction takes due deliveries of so many organizations. */
const maxOwners = 50;
/** Larger builds take turns: 500 jobs, a quarter of the most, take 10 ms, in which nobody else writes to SQLite. */
const maxSize = 1 / 4;
/** A delivery that could not be decided is tried again after it. */
const retryMs = 10 * secondMs;
/** Deliveries behind an earlier one are looked at again after it, if they are many. */
const heldMs = secondMs;
/** No delivery waits for so long: a wrong clock made it due so late. */
const maxAheadMs = 2 * minuteMs;

export function openDueDeliveries(
  services: Services,
  evaluate: EvaluateFilters = openFilterEvaluator(),
): DueDeliveries {
  return new Builder(services, evaluate);
}

class Builder implements DueDeliveries {
  readonly #services: Services;
  readonly #looks: ReturnType<typeof openLooks>;
  readonly #visits: Record<"direct" | "filtered", Visits<WaitingOf & { dueAt: Date }>>;
  readonly #filters: DueFilters;
  readonly #evaluated = openGatherer<Evaluated>({
    flush: (batch) => this.#decideBatch(batch, maxSize).finally(() => this.#wakeForHeld()),
    maxItems: maxBatchItems,
  });
  /** Deliveries of providers may wait for earlier ones that this process decides now. */
  #areHeld = false;
  /** Organizations of which large builds wait for a turn in this process. */
  readonly #large = new Set<string>();
  readonly #tasks = new Tasks();

  constructor(services: Services, evaluate: EvaluateFilters) {
    this.#services = services;
    this.#looks = openLooks(services, () => this.#look());
    const visitsOf = (isFiltered: boolean) =>
      openVisits((after) => findNextWaiting(services.db, { after, isFiltered }));
    this.#visits = { direct: visitsOf(false), filtered: visitsOf(true) };
    const decide = (evaluated: Evaluated[]) => Promise.all(evaluated.map(this.#evaluated.add));
    this.#filters = openDueFilters(services, evaluate, decide);
  }

  wake(): void {
    this.#looks.wake();
  }

  async idle(): Promise<void> {
    do {
      await this.#looks.idle();
      await this.#filters.idle();
      await this.#tasks.idle();
    } while (this.#looks.isRunning());
  }

  async close(): Promise<void> {
    await this.#looks.close();
    await this.#filters.close();
    await this.#evaluated.flush();
    await this.#tasks.close();
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
    const { db, clock } = this.#services;
    const now = clock.now();
    let ids: string[] = [];
    let isMore = false;
    const decideAll = () =>
      db.transaction(async (tx) => {
        const due = [];
        for (const organizationId of owners) {
          const own = await lockDue(tx, { organizationId, isFiltered: false, now, limit: share });
          isMore ||= own.length === share;
          due.push(...own);
        }
        ids = due.map(({ id }) => id);
        return decideAndBuild(tx, this.#services, { deliveries: due, results: new Map(), maxSize });
      });
    try {
      const decided = await decideAll();
      this.#publish(decided);
      this.#areHeld = decided.held.length > 0;
      if (isMore && this.#areHeld) await this.#putOff(decided.held);
    } catch (error) {
      if (error instanceof Outage) throw error;
      if (error instanceof TooManyJobs)
        await this.#decideBatch(
          ids.map((id) => ({ id })),
          maxSize,
        );
      else for (const id of ids) await this.#decideAlone(id);
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
      await this.#decideBatch([{ id }], maxSize);
    } catch (error) {
      if (error instanceof Outage) throw error;
      log.warn({ err: error, deliveryId: id }, "a delivery could not be decided; it will be tried again");
      const dueAt = new Date(clock.now().getTime() + retryMs);
      await db.transaction((tx) => setDue(tx, { ids: [id], dueAt }));
    }
  }

  async #decideBatch(batch: Evaluated[], maxSize: number): Promise<void> {
    const results = new Map(batch.flatMap(({ id, result }) => (result ? [[id, result] as const] : [])));
    const large: Excess[] = [];
    for (let left = batch; left.length > 0; ) {
      try {
        this.#publish(await this.#decide(left, { results, maxSize }));
        break;
      } catch (error) {
        if (!(error instanceof TooManyJobs)) throw error;
        left = await this.#take(error, left);
        large.push(...error.excesses);
      }
    }
    for (const each of large) this.#startLarge(each, batch);
  }

  #publish(decided: Decided): void {
    publishDecided(this.#services, decided);
    if (decided.isMore) this.wake();
  }

  #decide(
    batch: Evaluated[],
    options: Pick<Parameters<typeof decideAndBuild>[2], "results" | "maxSize">,
  ): Promise<Decided> {
    return this.#services.db.transaction(async (tx) => {
      const ids = batch.map(({ id }) => id);
      return decideAndBuild(tx, this.#services, { deliveries: await lockIfWaiting(tx, { ids }), ...options });
    });
  }

  /** Takes deliveries with too many jobs for a common transaction. @returns the others */
  async #take({ excesses }: TooManyJobs, batch: Evaluated[]): Promise<Evaluated[]> {
    const { db, clock } = this.#services;
    const ids = excesses.flatMap(({ parts }) => parts.flat().map(({ deliveryId }) => deliveryId ?? ""));
    const dueAt = new Date(clock.now().getTime() + takenMs);
    await db.transaction((tx) => setDue(tx, { ids, dueAt }));
    const taken = new Set(ids);
    return batch.filter(({ id }) => !taken.has(id));
  }

  /** Builds them in turns. If some of the organization wait already, these are due again after half a minute. */
  #startLarge({ organizationId, parts }: Excess, batch: Evaluated[]): void {
    if (this.#large.has(organizationId)) return;
    this.#large.add(organizationId);
    const byId = new Map(batch.map((each) => [each.id, each]));
    const own = partsOfDeliveries(parts).map((part) => part.flatMap((id) => byId.get(id) ?? []));
    this.#tasks.add(this.#buildLarge(organizationId, own).finally(() => this.#large.delete(organizationId)));
  }

  async #buildLarge(organizationId: string, parts: Evaluated[][]): Promise<void> {
    const { signal } = this.#tasks;
    for (const part of parts) {
      const build = () => this.#decideBatch(part, 1);
      await laterWork.take(organizationId, build, signal).catch((error) => {
        if (!signal.aborted)
          this.#services.log.warn({ err: error, organizationId }, "large builds were not made; they will be");
      });
    }
  }
}
