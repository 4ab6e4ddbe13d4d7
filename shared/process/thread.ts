import { parentPort, Worker } from "node:worker_threads";

/** Requests sent ahead: enough to keep the thread busy, and few to send again. */
const maxSent = 32;
/** A timer that is later shows that the whole process stood still, not that the thread is slow. */
const stalledMs = 100;
const ready = "ready";
/** V8's own choice is three times as much: threads that evaluate slow filters took 200 MB together. */
const maxYoungGenerationSizeMb = 16;

interface Waiting<Request, Response> {
  request: Request;
  resolve: (response: Response) => void;
  reject: (error: Error) => void;
}

export class DeadlineExceeded extends Error {
  override readonly name = "DeadlineExceeded";
}

/** Responds in order, off the caller's thread. */
export interface Thread<Request, Response> {
  /**
   * @param signal ends the request, and the thread if it may have begun with it
   * @throws DeadlineExceeded
   * @throws Error when the thread cannot start, or dies over this request; the signal's reason
   */
  request(request: Request, signal?: AbortSignal): Promise<Response>;
  /** Fails waiting requests. */
  close(): Promise<void>;
}

/**
 * Starts the module, which calls `handleRequests`, at the first request and again after it died. Keeps the process
 * alive only while a request waits.
 * @param deadlineMs for each response, from when the thread can have begun it
 */
export function openThread<Request extends object, Response>(
  module: URL,
  { deadlineMs = Number.POSITIVE_INFINITY, ...options }: ThreadOptions<Request> = {},
): Thread<Request, Response> {
  return new OrderedThread<Request, Response>(module, { deadlineMs, ...options });
}

export interface ThreadOptions<Request> {
  deadlineMs?: number;
  /** Copies what can be transferred: a request may have to be sent again. Default: structured clone. */
  copy?: ((request: Request) => { message: Request; transferred: ArrayBuffer[] }) | undefined;
}

/**
 * Starts the module without tsx, as Node strips the types itself. tsx takes 46 ms of CPU time for each thread, and 15 MB
 * (shared/decisions/23-only-the-image-runs-a-bundle.md).
 */
export function startThread(module: URL): Worker {
  return new Worker(module, { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb } });
}

/** An error of `handle` ends the thread. */
export function handleRequests<Request extends object, Response>(
  handle: (request: Request) => Response,
): void {
  const port = parentPort;
  if (!port) throw new Error("Requests are handled in a thread only.");
  port.on("message", (request: Request) => port.postMessage({ response: handle(request) }));
  port.postMessage(ready);
}

class OrderedThread<Request extends object, Response> implements Thread<Request, Response> {
  readonly #module: URL;
  readonly #deadlineMs: number;
  readonly #copy: ThreadOptions<Request>["copy"];
  #worker: Worker | undefined;
  #isReady = false;
  #isClosed = false;
  /** A terminated thread has its memory until it exits: the next one starts then. */
  #isEnding = false;
  /** Oldest first. The thread has the first `#sent`. */
  readonly #waiting: Waiting<Request, Response>[] = [];
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(module: URL, { deadlineMs, copy }: ThreadOptions<Request> & { deadlineMs: number }) {
    this.#module = module;
    this.#deadlineMs = deadlineMs;
    this.#copy = copy;
  }

  request(request: Request, signal?: AbortSignal): Promise<Response> {
    if (this.#isClosed) return Promise.reject(new Error("The thread is closed."));
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const waiting = { request, resolve, reject };
      if (signal) this.#abandonOnAbort(waiting, signal);
      this.#waiting.push(waiting);
      if (this.#worker) this.#send();
      else if (!this.#isEnding) this.#start();
      if (this.#waiting.length === 1) this.#setTimer();
    });
  }

  #abandonOnAbort(waiting: Waiting<Request, Response>, signal: AbortSignal): void {
    const { resolve, reject } = waiting;
    const abandon = () => this.#abandon(waiting, signal.reason);
    const finish = () => signal.removeEventListener("abort", abandon);
    waiting.resolve = (response) => {
      finish();
      resolve(response);
    };
    waiting.reject = (error) => {
      finish();
      reject(error);
    };
    signal.addEventListener("abort", abandon);
  }

  #abandon(waiting: Waiting<Request, Response>, reason: Error): void {
    const index = this.#waiting.indexOf(waiting);
    const isSent = index < this.#sent;
    this.#waiting.splice(index, 1);
    if (isSent) this.#replace();
    waiting.reject(reason);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#detach();
    this.#reject(this.#waiting.length, new Error("The thread is closed."));
    await worker?.terminate();
  }

  #start(): void {
    try {
      this.#worker = this.#newWorker();
    } catch (error) {
      this.#reject(this.#waiting.length, error as Error);
    }
    this.#send();
  }

  #newWorker(): Worker {
    const worker = startThread(this.#module);
    worker.on("message", (message: typeof ready | { response: Response }) => {
      if (worker !== this.#worker) return;
      if (message === ready) this.#handleReady();
      else this.#handleResponse(message.response);
    });
    let cause = new Error("The thread ended by itself.");
    worker.on("error", (error) => {
      cause = error;
    });
    // Last responses may follow the error, but not the exit.
    worker.on("exit", () => this.#handleExit(worker, cause));
    return worker;
  }

  #handleReady(): void {
    this.#isReady = true;
    this.#setTimer();
  }

  #send(): void {
    const unsent = this.#waiting.slice(this.#sent, maxSent);
    if (unsent.length > 0) this.#worker?.ref();
    for (const { request } of unsent) {
      this.#post(request);
      this.#sent++;
    }
  }

  #post(request: Request): void {
    const { message, transferred } = this.#copy?.(request) ?? { message: request, transferred: [] };
    this.#worker?.postMessage(message, transferred);
  }

  #handleResponse(response: Response): void {
    const head = this.#waiting.shift();
    this.#sent--;
    this.#setTimer();
    if (this.#waiting.length === 0) this.#worker?.unref();
    else this.#send();
    head?.resolve(response);
  }

  /** The thread can have begun the head only. */
  #setTimer(): void {
    clearTimeout(this.#timer);
    const head = this.#waiting[0];
    if (!head || !this.#isReady || this.#deadlineMs === Number.POSITIVE_INFINITY) return;

    const dueAt = performance.now() + this.#deadlineMs;
    this.#timer = setTimeout(() => {
      if (performance.now() - dueAt > stalledMs) this.#setTimer();
      // Node reads messages after timers: the response may be here already.
      else setImmediate(() => this.#handleDeadline(head));
    }, this.#deadlineMs);
  }

  #handleDeadline(head: Waiting<Request, Response>): void {
    if (this.#waiting[0] !== head || !this.#isReady) return;
    this.#replace();
    this.#reject(1, new DeadlineExceeded(`No response within ${this.#deadlineMs} ms.`));
  }

  /** A thread that was ready died of the head. A thread that never was would die of every request. */
  #handleExit(worker: Worker, error: Error): void {
    if (worker !== this.#worker) return;
    const failed = this.#isReady ? 1 : this.#waiting.length;
    this.#detach();
    this.#reject(failed, error);
    if (this.#waiting.length > 0) this.#start();
  }

  /** Ends the thread, and starts the next one once it is gone and a request waits. */
  #replace(): void {
    const worker = this.#detach();
    if (!worker) return;
    this.#isEnding = true;
    worker.terminate().finally(() => {
      this.#isEnding = false;
      if (this.#waiting.length > 0) this.#start();
    });
  }

  #detach(): Worker | undefined {
    const worker = this.#worker;
    clearTimeout(this.#timer);
    this.#worker = undefined;
    this.#isReady = false;
    this.#sent = 0;
    return worker;
  }

  #reject(count: number, error: Error): void {
    for (const { reject } of this.#waiting.splice(0, count)) reject(error);
  }
}
