import { parentPort, Worker } from "node:worker_threads";

/** Requests sent ahead: enough to keep the thread busy, and few to send again. */
const maxSent = 32;
/** A thread with less CPU time than a thirtieth is given up: something else than a busy machine holds it. */
const maxDeadlinesWaited = 30;
/** A look at the CPU time interrupts the thread. */
const minMsToLook = 10;
/** V8's own choice is three times as much: threads that evaluate slow filters took 200 MB together. */
const maxYoungGenerationSizeMb = 16;

/** The thread sends one when it is ready, then one with each response. */
interface Message<Response> {
  response?: Response;
  /** The CPU time of the thread so far. */
  cpuMs: number;
}

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
 * @param deadlineMs CPU time of the thread for each response: on a busy machine it may take longer
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
  const send = (message: Partial<Message<Response>>) =>
    port.postMessage({ ...message, cpuMs: inMs(process.threadCpuUsage()) });
  port.on("message", (request: Request) => send({ response: handle(request) }));
  send({});
}

function inMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
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
  /** When the thread can have begun the head, and the CPU time that it had taken until then. */
  #begunAt = 0;
  #cpuMsBefore = 0;

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
    worker.on("message", (message: Message<Response>) => {
      if (worker !== this.#worker) return;
      this.#cpuMsBefore = message.cpuMs;
      if ("response" in message) this.#handleResponse(message.response as Response);
      else this.#handleReady();
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
    this.#begunAt = performance.now();
    this.#lookAfter(this.#deadlineMs, head);
  }

  #lookAfter(ms: number, head: Waiting<Request, Response>): void {
    clearTimeout(this.#timer);
    // Node reads messages after timers: the response may be here already.
    this.#timer = setTimeout(() => setImmediate(() => this.#look(head)), ms);
  }

  /** Ends a thread that took too much CPU time for the head. */
  async #look(head: Waiting<Request, Response>): Promise<void> {
    const worker = this.#worker;
    const isOver = () => worker !== this.#worker || this.#waiting[0] !== head || !this.#isReady;
    if (!worker || isOver()) return;
    const waitMs = this.#begunAt + maxDeadlinesWaited * this.#deadlineMs - performance.now();
    if (waitMs <= 0) return this.#miss();
    this.#lookAfter(waitMs, head); // a thread that cannot be interrupted gives no answer

    const usage = await worker.cpuUsage().catch(() => undefined); // it has ended
    if (!usage || isOver()) return;
    const leftMs = this.#deadlineMs - (inMs(usage) - this.#cpuMsBefore);
    if (leftMs <= 0) this.#miss();
    else this.#lookAfter(Math.max(leftMs, minMsToLook), head);
  }

  #miss(): void {
    this.#replace();
    this.#reject(1, new DeadlineExceeded(`No response within ${this.#deadlineMs} ms of CPU time.`));
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
