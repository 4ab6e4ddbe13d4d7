import { secondMs } from "../durations.ts";
import { unavailable } from "../refusal.ts";
import { presentOwner } from "./owner.ts";
import { enterOwner, isAlone } from "./presence.ts";

/**
 * Runs tasks of many owners on a resource. An owner who is alone has all of it but one place, which a newcomer finds
 * free. Beside others, owners take turns: each has few tasks at once, and rests after them.
 */
export interface Turns {
  /**
   * Runs the task when its turn comes. The signal ends the wait; a running task has to watch it itself.
   * @throws Refusal 503 when too many wait; the signal's reason
   */
  take<Result>(owner: string, task: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

export interface TurnBounds {
  /** Tasks at once. */
  max: number;
  /** Tasks at once of an owner beside others. */
  maxBesideOthers: number;
  /**
   * The rest of an owner after a task beside others, as a multiple of its duration: until it ends, the owner starts no
   * task in its place.
   */
  restFactor: number;
  /** The time that a task should take at most. A longer one is followed by a rest that is as much longer. */
  sliceMs: number;
  /** Tasks at once of owners whose last task took longer than a slice, all together: others find the other places. */
  maxOfLong?: number;
  /** Others work in the time of a task: it counts as a slice at most. */
  isShared?: boolean;
  /** A longer task kept callers waiting whom nobody knows yet: they come while its owner rests, even if it is alone. */
  lateMs?: number;
  maxWaiting?: number;
  maxWaitingOfOwner?: number;
}

/** A task seems long if the process was stopped meanwhile. */
const maxRestMs = 5 * secondMs;
/** A rest ends early if the others go. */
const restStepMs = 50;

export function openTurns(bounds: TurnBounds): Turns {
  return new RoundRobin(bounds);
}

/** Runs the task in a turn of the present owner; at once if it is the program's own. @throws the refusal of the turns */
export function takeOwnTurn<Result>(turns: Turns, task: () => Promise<Result>): Promise<Result> {
  const owner = presentOwner();
  return owner === undefined ? task() : turns.take(owner, task);
}

interface OwnerTasks {
  /** Tasks that run, and places that rest. */
  running: number;
  /** Oldest first; each starts a task. */
  waiting: Set<() => void>;
  /** The last task took longer than a slice. */
  isLong: boolean;
  /** Places that rest after a late task, whether or not there are others. */
  late: number;
}

class RoundRobin implements Turns {
  readonly #bounds: Required<TurnBounds>;
  /** Least recently served first. Only owners with tasks. */
  readonly #owners = new Map<string, OwnerTasks>();
  #running = 0;
  #runningLong = 0;
  #waiting = 0;
  #look: NodeJS.Timeout | undefined;

  constructor(bounds: TurnBounds) {
    const unbounded = Number.POSITIVE_INFINITY;
    const absent = {
      maxOfLong: unbounded,
      isShared: false,
      lateMs: unbounded,
      maxWaiting: unbounded,
      maxWaitingOfOwner: unbounded,
    };
    this.#bounds = { ...absent, ...bounds };
  }

  async take<Result>(owner: string, task: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const tasks = this.#tasksOf(owner);
    const leave = enterOwner(owner);
    try {
      const canStart = this.#canStart(owner, tasks);
      const isLong = canStart ? this.#start(owner, tasks) : await this.#wait(owner, tasks, signal);
      const startedAt = performance.now();
      try {
        return await task();
      } finally {
        if (isLong) this.#runningLong--;
        this.#finish(owner, tasks, performance.now() - startedAt);
      }
    } finally {
      leave();
    }
  }

  #tasksOf(owner: string): OwnerTasks {
    const known = this.#owners.get(owner);
    if (known) return known;
    const tasks: OwnerTasks = { running: 0, waiting: new Set(), isLong: false, late: 0 };
    this.#owners.set(owner, tasks);
    return tasks;
  }

  /** Tasks that wait cannot start, so this one overtakes none. */
  #canStart(owner: string, tasks: OwnerTasks): boolean {
    return tasks.waiting.size === 0 && this.#hasRoom(owner, tasks);
  }

  #hasRoom(owner: string, { running, isLong, late }: OwnerTasks): boolean {
    const { max, maxBesideOthers, maxOfLong } = this.#bounds;
    if (this.#running >= max) return false;
    const mayStart = !isLong || this.#runningLong < maxOfLong;
    return (mayStart && running < maxBesideOthers) || (running < max - 1 && late === 0 && isAlone(owner));
  }

  /** @returns true if it counts among the tasks of owners with long ones */
  #start(owner: string, tasks: OwnerTasks): boolean {
    this.#running++;
    if (tasks.isLong) this.#runningLong++;
    tasks.running++;
    this.#moveLast(owner, tasks);
    return tasks.isLong;
  }

  #moveLast(owner: string, tasks: OwnerTasks): void {
    this.#owners.delete(owner);
    this.#owners.set(owner, tasks);
  }

  #isFull({ waiting }: OwnerTasks): boolean {
    const { maxWaiting, maxWaitingOfOwner } = this.#bounds;
    return waiting.size >= maxWaitingOfOwner || this.#waiting >= maxWaiting;
  }

  #wait(owner: string, tasks: OwnerTasks, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#isFull(tasks)) {
      this.#removeIfIdle(owner, tasks);
      throw unavailable();
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        tasks.waiting.delete(start);
        this.#waiting--;
        signal?.removeEventListener("abort", abandon);
      };
      const start = () => {
        leave();
        resolve(this.#start(owner, tasks));
      };
      const abandon = () => {
        leave();
        this.#removeIfIdle(owner, tasks);
        reject(signal?.reason);
      };
      tasks.waiting.add(start);
      this.#waiting++;
      signal?.addEventListener("abort", abandon);
      if (this.#hasRoom(owner, tasks)) this.#startWaiting(); // the others may have gone since
      this.#lookAgain();
    });
  }

  /** Others go without a word: a task of an owner who is alone since must not wait for another one to end. */
  #lookAgain(): void {
    if (this.#waiting === 0) return;
    this.#look ??= setTimeout(() => {
      this.#look = undefined;
      this.#startWaiting();
      this.#lookAgain();
    }, restStepMs);
  }

  #finish(owner: string, tasks: OwnerTasks, tookMs: number): void {
    this.#running--;
    this.#moveLast(owner, tasks); // others may have come since its start
    const { restFactor, sliceMs, isShared, lateMs } = this.#bounds;
    tasks.isLong = tookMs > sliceMs;
    const countedMs = isShared ? Math.min(tookMs, sliceMs) : tookMs * Math.max(1, tookMs / sliceMs);
    const restMs = Math.min(countedMs * restFactor, maxRestMs);
    if (tookMs > lateMs) this.#restLate(owner, tasks, restMs);
    else this.#restBesideOthers(owner, tasks, restMs, tookMs);
    this.#startWaiting();
  }

  #restBesideOthers(owner: string, tasks: OwnerTasks, restMs: number, taskMs = 0): void {
    if (restMs <= 0 || isAlone(owner, taskMs)) this.#leave(owner, tasks);
    else this.#rest(owner, tasks, restMs);
  }

  #rest(owner: string, tasks: OwnerTasks, restMs: number): void {
    const stepMs = Math.min(restMs, restStepMs);
    setTimeout(() => this.#restBesideOthers(owner, tasks, restMs - stepMs), stepMs);
  }

  /** For a step at least, in which those who waited unknown make themselves known. */
  #restLate(owner: string, tasks: OwnerTasks, restMs: number): void {
    tasks.late++;
    setTimeout(() => {
      tasks.late--;
      this.#restBesideOthers(owner, tasks, restMs - restStepMs);
    }, restStepMs);
  }

  #leave(owner: string, tasks: OwnerTasks): void {
    tasks.running--;
    this.#removeIfIdle(owner, tasks);
    this.#startWaiting();
  }

  /** Starts tasks while there is room: owners that were served go to the end of the list. */
  #startWaiting(): void {
    if (this.#waiting === 0) return;
    for (const [owner, tasks] of this.#owners) {
      if (this.#running >= this.#bounds.max) return;
      const [start] = tasks.waiting;
      if (start && this.#hasRoom(owner, tasks)) start();
    }
  }

  #removeIfIdle(owner: string, { running, waiting }: OwnerTasks): void {
    if (running === 0 && waiting.size === 0) this.#owners.delete(owner);
  }
}
