import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";

/** A thread with less CPU time than a thirtieth is given up: something else than a busy machine holds it. */
const maxDeadlinesWaited = 30;
/** A look at the CPU time interrupts the thread. */
const minMsToLook = 10;
/** V8's own choice is three times as much: threads that evaluate slow filters took 200 MB together. */
const maxYoungGenerationSizeMb = 16;

export class DeadlineExceeded extends Error {
  override readonly name = "DeadlineExceeded";
  readonly deadlineMs: number;

  constructor(deadlineMs: number) {
    super(`No result within ${deadlineMs} ms of CPU time.`);
    this.deadlineMs = deadlineMs;
  }
}

export interface ThreadsOptions {
  /** The number of threads. Each starts once all others work. */
  max: number;
  /** CPU time of each task: on a busy machine it may take longer. Default: none. */
  deadlineMs?: number;
  /** Learns, in the context of the caller, how long a task waited for a thread, also for one to start. */
  handleWait?: (ms: number) => void;
}

export interface TaskOptions {
  /** Default: the deadline of the threads. */
  deadlineMs?: number;
  /** Ends the task, and the thread if it has begun with it. */
  signal?: AbortSignal | undefined;
  /** Not copied. */
  transferred?: ArrayBuffer[];
}

/**
 * Runs the task in a thread.
 * @throws DeadlineExceeded; the error of the task, which ends the thread; the signal's reason
 */
export type InThread<Input, Result> = (input: Input, options?: TaskOptions) => Promise<Result>;

/** A message of a thread (in-thread.ts): it begins with a task, or has its result. */
export type ThreadMessage = { cpuMs: number } | { result: unknown };

interface Task {
  request: { module: string; name: string; input: unknown };
  options: TaskOptions;
  /** The thread begins with it. */
  begin: () => void;
  resolve: (result: Promise<unknown>) => void;
  reject: (error: Error) => void;
}

/** Threads that run any function, a task at a time. They keep the process alive only while they work. */
export class Threads {
  readonly #options: Required<ThreadsOptions>;
  /** A thread that is ended keeps its memory until it exits: the next one starts then. */
  readonly #all = new Set<Worker>();
  /** The last one that worked goes on first, so that few start. */
  readonly #idle: Worker[] = [];
  readonly #waiting = new Set<Task>();
  /** Resolves once the thread has loaded the module of its task, or has exited. */
  readonly #loaded = new WeakMap<Worker, Promise<void>>();
  #isClosed = false;

  constructor({ max, deadlineMs = Number.POSITIVE_INFINITY, handleWait = () => {} }: ThreadsOptions) {
    this.#options = { max, deadlineMs, handleWait };
  }

  /**
   * Returns a function that runs an exported function of a module in a thread. The buffers that its result lists as
   * `transferred` are not copied.
   */
  wrap<Run extends (input: never) => unknown>(
    module: URL,
    name: string,
  ): InThread<Parameters<Run>[0], ReturnType<Run>> {
    return async (input, options = {}) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const request = { module: module.href, name, input };
      const askedAt = performance.now();
      let begunAt: number | undefined;
      const begin = () => (begunAt = performance.now());
      this.#waiting.add({ request, options, begin, resolve, reject });
      this.#startWaiting();
      try {
        return (await promise) as Awaited<ReturnType<Run>>;
      } finally {
        this.#options.handleWait((begunAt ?? performance.now()) - askedAt);
      }
    };
  }

  /** Fails tasks that run or wait. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#startWaiting();
    await Promise.all([...this.#all].map((worker) => this.#end(worker)));
  }

  /** A thread that is terminated while it loads a native module takes the process with it. */
  async #end(worker: Worker): Promise<void> {
    worker.ref();
    await this.#loaded.get(worker);
    await worker.terminate();
  }

  #startWaiting(): void {
    for (const task of this.#waiting) {
      try {
        if (this.#isClosed) throw closed();
        task.options.signal?.throwIfAborted();
        const worker = this.#idle.pop() ?? this.#start();
        if (!worker) return;
        task.resolve(this.#run(worker, task));
      } catch (error) {
        task.reject(error as Error);
      }
      this.#waiting.delete(task);
    }
  }

  async #run(worker: Worker, task: Task): Promise<unknown> {
    this.#loaded.set(worker, untilLoaded(worker));
    try {
      const result = await perform(worker, task, { ...this.#options, ...task.options });
      this.#idle.push(worker);
      return result;
    } catch (error) {
      void this.#end(worker).then(() => this.#replace(task.request.module));
      throw this.#isClosed ? closed() : error;
    } finally {
      this.#startWaiting();
    }
  }

  /** Starts a thread with its module: the next task, which may be another caller's, need not wait for that. */
  #replace(module: string): void {
    if (this.#isClosed) return;
    const worker = this.#start();
    if (!worker) return;
    this.#loaded.set(worker, untilLoaded(worker));
    worker.once("message", () => {
      this.#idle.unshift(worker);
      this.#startWaiting();
    });
    worker.postMessage({ module });
    worker.unref();
  }

  /**
   * Starts a thread without tsx, as Node strips the types itself. tsx takes 46 ms of CPU time for each thread, and 15 MB
   * (shared/decisions/23-only-the-image-runs-a-bundle.md).
   */
  #start(): Worker | undefined {
    if (this.#all.size >= this.#options.max) return undefined;
    const module = new URL("./in-thread.ts", import.meta.url);
    const worker = new Worker(module, { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb } });
    this.#all.add(worker);
    worker.on("error", () => {}); // its task fails with it
    worker.on("exit", () => {
      this.#all.delete(worker);
      const index = this.#idle.indexOf(worker);
      if (index >= 0) this.#idle.splice(index, 1);
      this.#startWaiting();
    });
    return worker;
  }
}

function closed(): Error {
  return new Error("The threads are closed.");
}

/** A thread sends its first message of a task once the module is loaded. */
function untilLoaded(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    worker.off("message", end).off("exit", end);
    resolve();
  };
  worker.on("message", end).on("exit", end);
  return promise;
}

async function perform(
  worker: Worker,
  { request, begin }: Task,
  { deadlineMs, signal, transferred = [] }: TaskOptions & { deadlineMs: number },
): Promise<unknown> {
  const over = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const handle = (message: ThreadMessage) => {
    if ("result" in message) return resolve(message.result);
    begin();
    untilLate(worker, { deadlineMs, ...message }, over.signal).then(reject, () => {});
  };
  const exit = () => reject(new Error("The thread ended by itself."));
  const abandon = () => reject(signal?.reason);
  worker.on("message", handle).on("error", reject).on("exit", exit);
  signal?.addEventListener("abort", abandon);
  worker.ref();
  try {
    worker.postMessage(request, transferred);
    return await promise;
  } finally {
    over.abort();
    signal?.removeEventListener("abort", abandon);
    worker.off("message", handle).off("error", reject).off("exit", exit);
    worker.unref();
  }
}

/** Resolves once the thread has taken too much CPU time since it began. Rejects once the task is over. */
async function untilLate(
  worker: Worker,
  { deadlineMs, cpuMs }: { deadlineMs: number; cpuMs: number },
  over: AbortSignal,
): Promise<DeadlineExceeded> {
  const late = new DeadlineExceeded(deadlineMs);
  if (deadlineMs === Number.POSITIVE_INFINITY) return new Promise(() => {});
  const givenUpAt = performance.now() + maxDeadlinesWaited * deadlineMs;
  for (let leftMs = deadlineMs; leftMs > 0; ) {
    await delay(Math.max(leftMs, minMsToLook), undefined, { signal: over });
    await nextTurn(); // Node reads messages after timers: the result may be here already
    over.throwIfAborted();
    const waitMs = givenUpAt - performance.now();
    if (waitMs <= 0) break;
    // A thread that cannot be interrupted gives no answer.
    const usage = await Promise.race([worker.cpuUsage(), delay(waitMs, undefined, { signal: over })]);
    leftMs = usage ? deadlineMs - (inMs(usage) - cpuMs) : 0;
  }
  return late;
}

export function inMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}
