import { hourMs, secondMs } from "../../durations.ts";
import { timeOfId } from "../../ids.ts";
import type { Services } from "../../process/services.ts";
import { Tasks } from "../../sharing/tasks.ts";
import type { FilteredDelivery } from "../deliveries/store.ts";
import { isBackingOff } from "./back-off.ts";
import type { FilterLanes } from "./lanes.ts";
import { deferDeliveries, type Leased, openLeases } from "./leases.ts";
import type { FilterMisses } from "./misses-store.ts";
import { type Evaluated, FilterTurn, maxTurnMs } from "./turn.ts";

/** Deliveries that wait for their filter. A short queue for each organization, in memory: rows keep the others. */
export interface FilterBacklog {
  /** Takes deliveries, or defers them. */
  add(deliveries: FilteredDelivery[]): void;
  /** Resolves once each delivery is decided or deferred. */
  idle(): Promise<void>;
  /** Gives the deliveries to other workers. */
  close(): Promise<void>;
}

interface Waiting extends Leased {
  triggerId: string;
  organizationId: string;
  size: number;
}

/** A delivery that has waited this long for a filter that backs off is decided without it. */
const maxBackOffMs = hourMs;
const backedOffTooLong = { error: "The filter missed its deadline again and again" };
const maxTurnDeliveries = 500;
/** The limit of a turn's payloads in memory. A larger one goes alone. */
const maxTurnBytes = 4 * 1024 * 1024;
const maxInMemory = 50_000;
/** An organization may queue as many as it evaluates in this time, within `queueLengths`. */
const maxBacklogMs = 30 * secondMs;
const queueLengths = { min: 100, max: 20_000 };

export function openFilterBacklog(
  services: Services,
  lanes: FilterLanes,
  decide: (evaluated: Evaluated[]) => Promise<unknown>,
): FilterBacklog {
  return new Backlog(services, lanes, decide);
}

class Backlog implements FilterBacklog {
  readonly #services: Services;
  readonly #lanes: FilterLanes;
  readonly #decide: (evaluated: Evaluated[]) => Promise<unknown>;
  readonly #leases: ReturnType<typeof openLeases>;
  /** By organization id, oldest delivery first. */
  readonly #queues = new Map<string, Waiting[]>();
  readonly #tasks = new Tasks();
  #isClosing = false;

  constructor(services: Services, lanes: FilterLanes, decide: (evaluated: Evaluated[]) => Promise<unknown>) {
    this.#services = services;
    this.#lanes = lanes;
    this.#decide = decide;
    this.#leases = openLeases(services);
  }

  add(deliveries: FilteredDelivery[]): void {
    if (this.#isClosing) return;
    const now = this.#services.clock.now();
    const free = deliveries.filter(({ delivery }) => !this.#leases.isTaken(delivery));
    const isReady = ({ misses }: FilteredDelivery) => !isBackingOff(misses) || misses.retryAt <= now;
    const ready = free.filter(isReady);
    const backingOff = free.filter((each) => !isReady(each));
    for (const alike of Map.groupBy(backingOff, ({ delivery }) => delivery.triggerId).values()) {
      const [{ misses }] = alike as [FilteredDelivery];
      if (misses)
        this.#track(
          this.#backOff(
            alike.map(({ delivery }) => delivery.id),
            misses,
          ),
        );
    }
    for (const [organizationId, own] of Map.groupBy(ready, (each) => each.organizationId))
      this.#enqueue(organizationId, own);
  }

  idle(): Promise<void> {
    return this.#tasks.idle();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#leases.close(); // before the deliveries of running evaluations fail
    await this.#lanes.close();
    await this.idle();
  }

  #enqueue(organizationId: string, deliveries: FilteredDelivery[]): void {
    const queue = this.#queues.get(organizationId) ?? [];
    const room = Math.max(0, this.#maxLength(organizationId) - queue.length);
    const inOrder = deliveries.map(({ delivery }) => delivery).sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const { id, triggerId, size, enqueuedAt } of inOrder.slice(0, room)) {
      const waiting = { id, triggerId, organizationId, size, enqueuedAt };
      queue.push(waiting);
      this.#leases.add(waiting);
    }
    const excess = inOrder.slice(room).map(({ id }) => id);
    if (excess.length > 0) this.#track(deferDeliveries(this.#services, excess, maxBacklogMs));
    if (queue.length === 0 || this.#queues.has(organizationId)) return;
    this.#queues.set(organizationId, queue);
    this.#track(this.#serve(organizationId, queue));
  }

  #maxLength(organizationId: string): number {
    const inTime = Math.floor(maxBacklogMs / this.#lanes.averageMs(organizationId));
    const length = Math.min(queueLengths.max, Math.max(queueLengths.min, inTime));
    return this.#leases.size < maxInMemory ? length : 0;
  }

  /** Evaluates the next turn while deliveries of the last one are decided. */
  async #serve(organizationId: string, queue: Waiting[]): Promise<void> {
    let deciding = Promise.resolve();
    while (queue.length > 0 && !this.#isClosing) {
      const evaluated = await this.#lanes
        .take(organizationId, (evaluate) => this.#takeTurn(queue, new FilterTurn(this.#services, evaluate)))
        .catch((error: unknown) => this.#logFailure(error));
      await deciding;
      if (evaluated) deciding = this.#decideAll(evaluated);
    }
    this.#queues.delete(organizationId);
    await deciding;
  }

  async #takeTurn(queue: Waiting[], turn: FilterTurn): Promise<Evaluated[]> {
    const taken = queue.splice(0, countOfTurn(queue, this.#lanes.averageMs(queue[0]?.organizationId ?? "")));
    try {
      await turn.evaluateAll(taken.map(({ id }) => id));
    } catch (error) {
      for (const { id } of taken) this.#leases.delete(id);
      throw error;
    }
    const done = new Set(turn.evaluated.map(({ id }) => id));
    queue.unshift(...taken.filter(({ id }) => !done.has(id)));
    for (const misses of turn.backingOff.values()) {
      const isOwn = ({ triggerId }: Waiting) => triggerId === misses.triggerId;
      const own = queue.filter(isOwn).map(({ id }) => id);
      queue.splice(0, queue.length, ...queue.filter((each) => !isOwn(each)));
      this.#track(this.#backOff(own, misses));
    }
    return turn.evaluated;
  }

  async #decideAll(evaluated: Evaluated[]): Promise<void> {
    for (const { id } of evaluated) this.#leases.delete(id);
    if (evaluated.length > 0)
      await this.#decide(evaluated).catch((error: unknown) => this.#logFailure(error));
  }

  /** Defers deliveries until the filter is tried again. Decides those that waited too long. */
  async #backOff(ids: string[], { filter, retryAt }: FilterMisses): Promise<void> {
    for (const id of ids) this.#leases.delete(id);
    const now = this.#services.clock.now().getTime();
    const isOverdue = (id: string) => now - timeOfId(id).getTime() > maxBackOffMs;
    const overdue = ids.filter(isOverdue);
    await this.#decideAll(overdue.map((id) => ({ id, result: { filter, outcome: backedOffTooLong } })));
    const waiting = ids.filter((id) => !isOverdue(id));
    await deferDeliveries(this.#services, waiting, retryAt.getTime() - now);
  }

  #track(task: Promise<void>): void {
    this.#tasks.add(task.catch((error: unknown) => this.#logFailure(error)));
  }

  #logFailure(error: unknown): undefined {
    if (this.#isClosing) return;
    this.#services.log.warn({ err: error }, "filters were not evaluated; their deliveries will be requeued");
  }
}

function countOfTurn(queue: Waiting[], averageMs: number): number {
  const max = Math.min(maxTurnDeliveries, Math.max(1, Math.floor(maxTurnMs / averageMs)));
  let bytes = 0;
  let count = 0;
  for (const { size } of queue) {
    bytes += size;
    if (count > 0 && (count >= max || bytes > maxTurnBytes)) break;
    count++;
  }
  return count;
}
