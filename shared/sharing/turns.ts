import { secondMs } from "../durations.ts";
import { unavailable } from "../refusal.ts";
import { presentOwner } from "./owner.ts";

/** Runs tasks of many owners: owners take turns, and each one's tasks run in order. */
export interface Turns {
  /**
   * Runs the task when its turn comes. The signal ends the wait; a running task has to watch it itself.
   * @throws the refusal when too many wait; the signal's reason
   */
  take<Result>(owner: string, task: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** For callers that read what the task needs before they take the turn. @throws the refusal that `take` would throw now */
  requireRoom(owner: string): void;
}

/** Absent: unbounded. */
export interface TurnBounds {
  maxRunning?: number;
  maxRunningPerOwner?: number;
  /**
   * The rest after a task, as a multiple of its duration: until it ends, the owner starts no task in its place. At most
   * 5 seconds. Default: 0.
   */
  restFactor?: number;
  maxWaiting?: number;
  maxWaitingPerOwner?: number;
}

/** `owner`: this owner is at its bound. `all`: all owners together are. */
export type ResourceFull = "owner" | "all";

/** A task seems long if the process was stopped meanwhile. */
const maxRestMs = 5 * secondMs;

/** @param refuse makes the error of a task that may not wait. Default: 503 */
export function openTurns(
  bounds: TurnBounds,
  refuse: (bound: ResourceFull) => Error = () => unavailable(),
): Turns {
  return new RoundRobin(bounds, refuse);
}

/** Runs the task in a turn of the present owner; at once if it is the program's own. @throws the refusal of the turns */
export function takeOwnTurn<Result>(turns: Turns, task: () => Promise<Result>): Promise<Result> {
  const owner = presentOwner();
  return owner === undefined ? task() : turns.take(owner, task);
}

interface OwnerTasks {
  running: number;
  /** Oldest first; each starts a task. */
  waiting: Set<() => void>;
}

const noTasks: OwnerTasks = { running: 0, waiting: new Set() };

class RoundRobin implements Turns {
  readonly #bounds: Required<TurnBounds>;
  readonly #refuse: (bound: ResourceFull) => Error;
  /** Least recently served first. Only owners with tasks. */
  readonly #owners = new Map<string, OwnerTasks>();
  #running = 0;
  #waiting = 0;

  constructor(bounds: TurnBounds, refuse: (bound: ResourceFull) => Error) {
    this.#refuse = refuse;
    const unbounded = Number.POSITIVE_INFINITY;
    this.#bounds = {
      maxRunning: unbounded,
      maxRunningPerOwner: unbounded,
      maxWaiting: unbounded,
      maxWaitingPerOwner: unbounded,
      restFactor: 0,
      ...bounds,
    };
  }

  async take<Result>(owner: string, task: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const tasks = this.#tasksOf(owner);
    if (this.#canStart(tasks)) this.#start(owner, tasks);
    else await this.#wait(owner, tasks, signal);
    const startedAt = performance.now();
    try {
      return await task();
    } finally {
      const restMs = (performance.now() - startedAt) * this.#bounds.restFactor;
      this.#finish(owner, tasks, Math.min(restMs, maxRestMs));
    }
  }

  #tasksOf(owner: string): OwnerTasks {
    const known = this.#owners.get(owner);
    if (known) return known;
    const tasks: OwnerTasks = { running: 0, waiting: new Set() };
    this.#owners.set(owner, tasks);
    return tasks;
  }

  /** Tasks that wait cannot start, so this one overtakes none. */
  #canStart({ running, waiting }: OwnerTasks): boolean {
    const { maxRunning, maxRunningPerOwner } = this.#bounds;
    return waiting.size === 0 && this.#running < maxRunning && running < maxRunningPerOwner;
  }

  #start(owner: string, tasks: OwnerTasks): void {
    this.#running++;
    tasks.running++;
    this.#moveLast(owner, tasks);
  }

  #moveLast(owner: string, tasks: OwnerTasks): void {
    this.#owners.delete(owner);
    this.#owners.set(owner, tasks);
  }

  requireRoom(owner: string): void {
    const tasks = this.#owners.get(owner) ?? noTasks;
    const full = this.#canStart(tasks) ? undefined : this.#findFull(tasks);
    if (full) throw this.#refuse(full);
  }

  #findFull({ waiting }: OwnerTasks): ResourceFull | undefined {
    const { maxWaiting, maxWaitingPerOwner } = this.#bounds;
    if (waiting.size >= maxWaitingPerOwner) return "owner";
    return this.#waiting >= maxWaiting ? "all" : undefined;
  }

  #wait(owner: string, tasks: OwnerTasks, signal: AbortSignal | undefined): Promise<void> {
    const full = this.#findFull(tasks);
    if (full) {
      this.#removeIfIdle(owner, tasks);
      throw this.#refuse(full);
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        tasks.waiting.delete(start);
        this.#waiting--;
        signal?.removeEventListener("abort", abandon);
      };
      const start = () => {
        leave();
        this.#start(owner, tasks);
        resolve();
      };
      const abandon = () => {
        leave();
        this.#removeIfIdle(owner, tasks);
        reject(signal?.reason);
      };
      tasks.waiting.add(start);
      this.#waiting++;
      signal?.addEventListener("abort", abandon);
    });
  }

  #finish(owner: string, tasks: OwnerTasks, restMs: number): void {
    this.#running--;
    this.#moveLast(owner, tasks); // others may have come since its start
    if (restMs > 0) setTimeout(() => this.#leave(owner, tasks), restMs);
    else this.#leave(owner, tasks);
    if (restMs > 0) this.#startNext();
  }

  #leave(owner: string, tasks: OwnerTasks): void {
    tasks.running--;
    this.#removeIfIdle(owner, tasks);
    this.#startNext();
  }

  #startNext(): void {
    const { maxRunning, maxRunningPerOwner } = this.#bounds;
    if (this.#waiting === 0 || this.#running >= maxRunning) return;
    for (const { running, waiting } of this.#owners.values()) {
      const [start] = waiting;
      if (!start || running >= maxRunningPerOwner) continue;
      start();
      return;
    }
  }

  #removeIfIdle(owner: string, { running, waiting }: OwnerTasks): void {
    if (running === 0 && waiting.size === 0) this.#owners.delete(owner);
  }
}
