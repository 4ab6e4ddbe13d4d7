import { secondMs } from "../durations.ts";
import { unavailable } from "../refusal.ts";
import { presentOwner } from "./owner.ts";
import { type Pace, Paces } from "./paces.ts";
import { enterOwner, isAlone } from "./presence.ts";
import { presentTurnOf, runInTurn } from "./present-turn.ts";

/**
 * Runs tasks of many owners on a resource. An owner who is alone has all of it but one slot, which a newcomer finds
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
  /** Tasks at once of owners who had a longer one than a slice in the last 10 seconds, all together. */
  maxOfLong?: number;
  /** Tasks at once of these, and of owners without any in the last 10 minutes: others find the other slots. */
  maxOfUnproven?: number;
  /** Others work in the time of a task: it counts as a slice at most, and rests in other turns, too. */
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
/** Work that waits for the end of a longer rest of its owner keeps no others resting: it costs its owner nothing. */
const longRestMs = secondMs / 2;

export function openTurns(bounds: TurnBounds): Turns {
  return new RoundRobin(bounds);
}

/** Runs the task in a turn of the present owner; at once if it is the program's own. @throws the refusal of the turns */
export function takeOwnTurn<Result>(turns: Turns, task: () => Promise<Result>): Promise<Result> {
  const owner = presentOwner();
  return owner === undefined ? task() : turns.take(owner, task);
}

interface OwnerTasks {
  /** Tasks that run, and slots that rest. */
  running: number;
  resting: number;
  /** Oldest first; each starts a task. */
  waiting: Set<() => void>;
  /**
   * Those inside a turn on another resource, which keeps a slot from others meanwhile: they wait for no rest of their
   * owner, who rests after the outer turn.
   */
  inside: Set<() => void>;
  pace: Pace;
  /** Slots that rest after a late task, whether or not there are others. */
  late: number;
  /** Slots that rest for long. */
  longRests: number;
  /** Present while tasks wait, but for such a rest. Ends the owner's presence. */
  endWaiting: (() => void) | undefined;
}

interface Finished {
  tookMs: number;
  /** Without the time in which it waited. */
  usedMs: number;
  isInside: boolean;
}

interface Resting {
  owner: string;
  /** Ends the rest of the slot. */
  leave: () => void;
}

class RoundRobin implements Turns {
  readonly #bounds: Required<TurnBounds>;
  /** Least recently served first. Only owners with tasks. */
  readonly #owners = new Map<string, OwnerTasks>();
  /** Absent without a bound of long tasks. */
  readonly #paces: Paces | undefined;
  #running = 0;
  #runningLong = 0;
  #runningUnproven = 0;
  #waiting = 0;
  #look: NodeJS.Timeout | undefined;

  constructor(bounds: TurnBounds) {
    const unbounded = Number.POSITIVE_INFINITY;
    const absent = {
      maxOfLong: unbounded,
      maxOfUnproven: unbounded,
      isShared: false,
      lateMs: unbounded,
      maxWaiting: unbounded,
      maxWaitingOfOwner: unbounded,
    };
    this.#bounds = { ...absent, ...bounds };
    if (bounds.maxOfLong) this.#paces = new Paces();
  }

  async take<Result>(owner: string, task: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const { isShared } = this.#bounds;
    const outer = isShared ? undefined : presentTurnOf(owner);
    const isInside = outer !== undefined;
    const tasks = this.#tasksOf(owner);
    const askedAt = performance.now();
    const canStart = this.#canStart(owner, tasks, isInside);
    const pace = canStart ? this.#start(owner, tasks) : await this.#wait(owner, tasks, isInside, signal);
    const leave = enterOwner(owner);
    const startedAt = performance.now();
    const turn = { owner, waitedMs: 0, isOver: false };
    try {
      return await (isShared ? task() : runInTurn(turn, task));
    } finally {
      turn.isOver = true;
      if (outer) outer.waitedMs += startedAt - askedAt + turn.waitedMs;
      this.#countRunning(pace, -1);
      const tookMs = performance.now() - startedAt;
      this.#finish(owner, tasks, { tookMs, usedMs: tookMs - turn.waitedMs, isInside });
      leave();
    }
  }

  #tasksOf(owner: string): OwnerTasks {
    const known = this.#owners.get(owner);
    if (known) return known;
    const pace = this.#paces?.of(owner);
    const none = { running: 0, resting: 0, late: 0, longRests: 0, endWaiting: undefined };
    const tasks: OwnerTasks = { ...none, waiting: new Set(), inside: new Set(), pace };
    this.#owners.set(owner, tasks);
    return tasks;
  }

  /** Tasks that wait cannot start, so this one overtakes none. */
  #canStart(owner: string, tasks: OwnerTasks, isInside: boolean): boolean {
    return (isInside || tasks.waiting.size === 0) && this.#hasRoom(owner, tasks, isInside);
  }

  #hasRoom(owner: string, { running: all, resting, pace, late }: OwnerTasks, isInside: boolean): boolean {
    const { max, maxBesideOthers } = this.#bounds;
    if (this.#running >= max) return false;
    const running = isInside ? all - resting : all;
    if (running < maxBesideOthers && this.#mayRun(pace)) return true;
    return running < this.#maxAlone(pace) && late === 0 && isAlone(owner);
  }

  #mayRun(pace: Pace): boolean {
    const { maxOfLong, maxOfUnproven } = this.#bounds;
    if (pace === "short") return true;
    return this.#runningUnproven < maxOfUnproven && (pace !== "long" || this.#runningLong < maxOfLong);
  }

  /** A newcomer, whose pace is not known, finds a slot. */
  #maxAlone(pace: Pace): number {
    const { max, maxOfUnproven } = this.#bounds;
    return (pace === "short" ? max : Math.min(max, maxOfUnproven)) - 1;
  }

  /** @returns the pace as which it is counted */
  #start(owner: string, tasks: OwnerTasks): Pace {
    const { pace } = tasks;
    this.#countRunning(pace, 1);
    tasks.running++;
    this.#moveLast(owner, tasks);
    return pace;
  }

  #countRunning(pace: Pace, by: 1 | -1): void {
    this.#running += by;
    if (pace !== "short") this.#runningUnproven += by;
    if (pace === "long") this.#runningLong += by;
  }

  #moveLast(owner: string, tasks: OwnerTasks): void {
    this.#owners.delete(owner);
    this.#owners.set(owner, tasks);
  }

  /** Owners with less than their part of what may wait are let in although others have filled it. */
  #isFull({ waiting }: OwnerTasks): boolean {
    const { maxWaiting, maxWaitingOfOwner } = this.#bounds;
    const part = Math.max(1, maxWaiting / this.#owners.size);
    return waiting.size >= maxWaitingOfOwner || (this.#waiting >= maxWaiting && waiting.size >= part);
  }

  #wait(owner: string, tasks: OwnerTasks, isInside: boolean, signal?: AbortSignal): Promise<Pace> {
    if (this.#isFull(tasks)) {
      this.#removeIfIdle(owner, tasks);
      throw unavailable();
    }
    const queue = isInside ? tasks.inside : tasks.waiting;
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(start);
        this.#waiting--;
        this.#showWaiting(owner, tasks);
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
      queue.add(start);
      this.#waiting++;
      this.#showWaiting(owner, tasks);
      signal?.addEventListener("abort", abandon);
      if (this.#hasRoom(owner, tasks, isInside)) this.#startWaiting(); // the others may have gone since
      this.#lookAgain();
    });
  }

  #showWaiting(owner: string, tasks: OwnerTasks): void {
    const isPresent = tasks.waiting.size > 0 && tasks.longRests === 0;
    if (isPresent) tasks.endWaiting ??= enterOwner(owner);
    else {
      tasks.endWaiting?.();
      tasks.endWaiting = undefined;
    }
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

  #finish(owner: string, tasks: OwnerTasks, { tookMs, usedMs, isInside }: Finished): void {
    this.#moveLast(owner, tasks); // others may have come since its start
    const { restFactor, sliceMs, isShared, lateMs } = this.#bounds;
    tasks.pace = this.#paces?.learn(owner, usedMs > sliceMs);
    const countedMs = isShared ? Math.min(usedMs, sliceMs) : usedMs * Math.max(1, usedMs / sliceMs);
    const restMs = isInside ? 0 : Math.min(countedMs * restFactor, maxRestMs);
    const isLong = restMs > longRestMs;
    tasks.resting++;
    if (isLong) tasks.longRests++;
    const resting = { owner, leave: () => this.#leave(owner, tasks, isLong) };
    if (tookMs > lateMs) this.#restLate(resting, tasks, restMs);
    else this.#restBesideOthers(resting, restMs, tookMs);
    this.#showWaiting(owner, tasks);
    this.#startWaiting();
  }

  #restBesideOthers(resting: Resting, restMs: number, taskMs = 0): void {
    if (restMs <= 0 || isAlone(resting.owner, taskMs)) resting.leave();
    else this.#rest(resting, restMs);
  }

  #rest(resting: Resting, restMs: number): void {
    const stepMs = Math.min(restMs, restStepMs);
    setTimeout(() => this.#restBesideOthers(resting, restMs - stepMs), stepMs);
  }

  /** For a step at least, in which those who waited unknown make themselves known. */
  #restLate(resting: Resting, tasks: OwnerTasks, restMs: number): void {
    tasks.late++;
    setTimeout(() => {
      tasks.late--;
      this.#restBesideOthers(resting, restMs - restStepMs);
    }, restStepMs);
  }

  #leave(owner: string, tasks: OwnerTasks, isLong: boolean): void {
    tasks.running--;
    tasks.resting--;
    if (isLong) tasks.longRests--;
    this.#showWaiting(owner, tasks);
    this.#removeIfIdle(owner, tasks);
    this.#startWaiting();
  }

  /** Starts tasks while there is room: owners that were served go to the end of the list. */
  #startWaiting(): void {
    if (this.#waiting === 0) return;
    for (const [owner, tasks] of this.#owners) {
      if (this.#running >= this.#bounds.max) return;
      for (const isInside of [true, false]) {
        const [start] = isInside ? tasks.inside : tasks.waiting;
        if (start && this.#hasRoom(owner, tasks, isInside)) start();
      }
    }
  }

  #removeIfIdle(owner: string, { running, waiting, inside }: OwnerTasks): void {
    if (running + waiting.size + inside.size === 0) this.#owners.delete(owner);
  }
}
