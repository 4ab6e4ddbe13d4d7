// Later work: a transaction that makes some due writes a row of `tasks` (`later`).
//
// | due_at of a task             | meaning                                                            |
// |------------------------------|--------------------------------------------------------------------|
// | now, or before               | workers look for it, each second and when they are woken           |
// | 3 seconds after its writing  | the process that wrote it does it right after the commit           |
// | later                        | a worker has taken it, it failed before, or it repeats by itself   |

import { restBetweenTransactions } from "../db/batches.ts";
import { secondMs } from "../durations.ts";
import { doTasksJob, sendNewsJob } from "../jobs/contracts.ts";
import type { Due } from "../process/due.ts";
import type { Services } from "../services/services.ts";
import { Background } from "../sharing/background.ts";
import { resources } from "../sharing/bounds.ts";
import { openOrder } from "../sharing/in-order.ts";
import { threads } from "../sharing/resources.ts";
import { openTurns } from "../sharing/turns.ts";
import type { TaskKind } from "../vocabulary.ts";
import { type DueWork, openLooks, openVisits, type Visits } from "./looks.ts";
import { countFailure, findNextOwner, isOfWorkers, listDue, setDue, takeIfDue } from "./store.ts";

/**
 * Does the tasks of a subject, or a slice of them, and ends those that are done. It may run twice, late, and beside the
 * same in another process: the rows decide, and the second run changes nothing.
 * @param place is that of the last slice. Absent in the first one
 * @returns undefined if all is done; else the place of the next slice, for which organizations take turns
 */
// biome-ignore lint/suspicious/noExplicitAny: each kind has places of its own
export type TaskHandler = (services: Services, subjectId: string, place?: any) => Promise<unknown>;

export type TaskHandlers = Partial<Record<TaskKind, TaskHandler>>;

const takenMs = 30 * secondMs;
const renewEveryMs = 10 * secondMs;
const maxDelayMs = 60 * secondMs;
/** The tasks of an organization in memory. A look takes no more: others find room, and these are soon done. */
const maxOfOwner = 100;
/** The tasks in memory. A worker does those beyond. */
const maxWaiting = 10_000;

type DueTask = Due & { kind: TaskKind };

interface Running extends DueTask {
  isDueAgain: boolean;
  isStarted: boolean;
}

/**
 * Does what transactions of this process make due, right after their commits. One of a subject runs at a time, and once
 * more if it became due again meanwhile.
 */
export function openTasks(services: Services, handlers: TaskHandlers): DueWork {
  return new Runner(services, handlers);
}

class Runner implements DueWork {
  readonly #services: Services;
  readonly #handlers: TaskHandlers;
  readonly #running = new Map<string, Running>();
  readonly #background = new Background();
  /** A build can trigger thousands of others, and its organization's groups must not wait for all of them. */
  readonly #inOrder = openOrder();
  readonly #turns = openTurns(resources.later);
  readonly #looks: DueWork;
  readonly #visitOwners: Visits<{ organizationId: string }>;
  /** By organization: its tasks in memory. */
  readonly #ofOwner = new Map<string, number>();
  /** Organizations that may have more. */
  readonly #full = new Set<string>();
  readonly #stop: () => void;

  constructor(services: Services, handlers: TaskHandlers) {
    this.#services = services;
    this.#handlers = handlers;
    this.#visitOwners = openVisits((after) => findNextOwner(services.db, after));
    this.#looks = openLooks(services, () => this.#look(), [this.#background]);
    const stopListening = services.due.listen((due) => this.#addDue(due));
    const timer = setInterval(() => void this.#renew(), renewEveryMs);
    timer.unref();
    this.#stop = () => {
      stopListening();
      clearInterval(timer);
    };
  }

  wake(): void {
    this.#looks.wake();
  }

  idle(): Promise<void> {
    return this.#looks.idle();
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#looks.close();
    await this.#background.close();
  }

  #addDue(due: Due[]): void {
    const { jobs } = this.#services;
    const tasks = due.filter((each): each is DueTask => each.kind !== "news");
    if (tasks.length < due.length) void jobs.send(sendNewsJob);
    if (tasks.some(({ kind }) => isOfWorkers(kind))) void jobs.send(doTasksJob);
    for (const each of tasks) if (!isOfWorkers(each.kind)) this.#add(each);
  }

  #add({ kind, subjectId, organizationId }: DueTask): void {
    const key = `${kind} ${subjectId}`;
    const known = this.#running.get(key);
    if (known) known.isDueAgain = true;
    if (known || !this.#handlers[kind] || this.#background.signal.aborted) return;
    if (this.#running.size >= maxWaiting) return;
    const task = { kind, subjectId, organizationId, isDueAgain: true, isStarted: false };
    this.#running.set(key, task);
    this.#ofOwner.set(organizationId, (this.#ofOwner.get(organizationId) ?? 0) + 1);
    this.#background.add(this.#run(task).finally(() => this.#remove(key, organizationId)));
  }

  #remove(key: string, organizationId: string): void {
    this.#running.delete(key);
    const left = (this.#ofOwner.get(organizationId) ?? 0) - 1;
    if (left > 0) this.#ofOwner.set(organizationId, left);
    else this.#ofOwner.delete(organizationId);
    if (left <= maxOfOwner / 2 && this.#full.delete(organizationId)) this.wake();
  }

  /** @returns false: it looks for more once there is room */
  async #look(): Promise<boolean> {
    const { db, clock } = this.#services;
    await this.#visitOwners(async ({ organizationId }) => {
      const room = Math.max(0, maxOfOwner - (this.#ofOwner.get(organizationId) ?? 0));
      const now = clock.now();
      const due = room > 0 ? await listDue(db, organizationId, now, room) : [];
      if (due.length === room) this.#full.add(organizationId);
      if (due.length === 0) return "go on";
      const until = new Date(now.getTime() + takenMs);
      const ids = due.map(({ id }) => id);
      const taken = await db.transaction((tx) => takeIfDue(tx, ids, now, until));
      for (const each of taken) this.#add(each);
      return "go on";
    });
    return false;
  }

  async #run(task: Running): Promise<void> {
    const { kind } = task;
    const { signal } = this.#background;
    const { log, metrics } = this.#services;
    while (task.isDueAgain && !signal.aborted) {
      task.isDueAgain = false;
      try {
        await this.#inOrder(`${kind} ${task.organizationId}`, () => this.#runSlices(task));
        metrics.tasks.inc({ kind, outcome: "done" });
      } catch (error) {
        if (signal.aborted) return;
        metrics.tasks.inc({ kind, outcome: "failed" });
        log.warn({ err: error, kind, subjectId: task.subjectId }, "a task failed; a worker will try again");
        await this.#delay(task);
      }
    }
  }

  async #runSlices(task: Running): Promise<void> {
    const { kind, subjectId, organizationId } = task;
    const { signal } = this.#background;
    const turns = kind === "artifact" ? threads : this.#turns;
    let place: unknown;
    const slice = async () => {
      task.isStarted = true;
      place = await this.#handlers[kind]?.(this.#services, subjectId, place);
    };
    do {
      if (place !== undefined) await restBetweenTransactions();
      await turns.take(organizationId, slice, signal);
    } while (place !== undefined && !signal.aborted);
  }

  /** The more failures, the later the next try. */
  async #delay(task: DueTask): Promise<void> {
    const { db, clock, log } = this.#services;
    const delay = db.transaction(async (tx) => {
      const failures = await countFailure(tx, task);
      const delayMs = Math.min(maxDelayMs, secondMs * 2 ** Math.min(failures, 10));
      await setDue(tx, task, { dueAt: new Date(clock.now().getTime() + delayMs) });
    });
    await delay.catch((error) => log.debug({ err: error }, "a task that failed was not delayed"));
  }

  /** Keeps long tasks from other workers. */
  async #renew(): Promise<void> {
    const { db, clock, log } = this.#services;
    const now = clock.now();
    const dueAt = new Date(now.getTime() + takenMs);
    const started = [...this.#running.values()].filter(({ isStarted }) => isStarted);
    for (const task of started)
      await db
        .transaction((tx) => setDue(tx, task, { dueAt, after: now }))
        .catch((error) => log.debug({ err: error }, "the due time of a running task was not moved on"));
  }
}
