import { parentPort, Worker } from "node:worker_threads";

/** Questions that are with the thread at once: enough to keep it busy, few enough to be asked again cheaply. */
const maxSent = 32;
/** An alarm that rings later than this says that the whole process stood still, not that the thread is slow. */
const stalledMs = 100;
/** What a thread says once it can answer. */
const ready = "ready";

/** Every question carries the bytes that it is about. */
interface Question {
  body: Uint8Array;
}

interface Waiting<Q, A> {
  question: Q;
  resolve: (answer: A) => void;
  reject: (error: Error) => void;
}

/** The answer to a question took longer than the deadline. */
export class DeadlineExceeded extends Error {}

/** Answers questions one after the other, in the order asked, without holding up the thread of whoever asks. */
export interface Thread<Q, A> {
  /**
   * @throws TooLate when answering takes longer than the deadline
   * @throws Error when the thread cannot start, or dies over this question
   */
  request(question: Q): Promise<A>;
  /** Ends the thread. Whoever still waits for an answer gets an error. */
  close(): Promise<void>;
}

/**
 * One thread that runs a module, which calls `answerQuestions`. It is started when it is first needed, and again
 * when it dies, and keeps the process alive only while somebody waits for an answer.
 * @param deadlineMs how long a single answer may take, from when the thread can have begun with it
 */
export function openThread<Q extends Question, A>(
  module: URL,
  { deadlineMs = Number.POSITIVE_INFINITY }: { deadlineMs?: number } = {},
): Thread<Q, A> {
  return new OrderedThread<Q, A>(module, deadlineMs);
}

/** The other end: to be called once by the thread's module. What `answer` throws ends the thread. */
export function handleRequests<Q extends Question, A>(answer: (question: Q) => A): void {
  const port = parentPort;
  if (!port) throw new Error("Questions are answered in a thread only.");
  port.on("message", (question: Q) => port.postMessage({ answer: answer(question) }));
  port.postMessage(ready);
}

class OrderedThread<Q extends Question, A> implements Thread<Q, A> {
  readonly #module: URL;
  readonly #deadlineMs: number;
  #worker: Worker | undefined;
  #isReady = false;
  #isClosed = false;
  /** Oldest first. The thread works on the head, and has been sent the first `#sent`. */
  readonly #waiting: Waiting<Q, A>[] = [];
  #sent = 0;
  #alarm: NodeJS.Timeout | undefined;

  constructor(module: URL, deadlineMs: number) {
    this.#module = module;
    this.#deadlineMs = deadlineMs;
  }

  request(question: Q): Promise<A> {
    if (this.#isClosed) return Promise.reject(new Error("The thread is closed."));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      if (this.#worker) this.#send();
      else this.#start();
      if (this.#waiting.length === 1) this.#setAlarm();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#forget();
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
    const worker = new Worker(this.#module);
    worker.on("message", (message: typeof ready | { answer: A }) => {
      if (worker !== this.#worker) return;
      if (message === ready) this.#open();
      else this.#settle(message.answer);
    });
    let death = new Error("The thread ended by itself.");
    worker.on("error", (error: Error) => {
      death = error;
    });
    // Its last answers come before this, and may come after the error.
    worker.on("exit", () => this.#mourn(worker, death));
    return worker;
  }

  #open(): void {
    this.#isReady = true;
    this.#setAlarm();
  }

  #send(): void {
    const unsent = this.#waiting.slice(this.#sent, maxSent);
    if (unsent.length > 0) this.#worker?.ref();
    for (const { question } of unsent) {
      // A copy travels: the bytes themselves are still needed here, and may have to be sent again.
      const body = new Uint8Array(question.body);
      this.#worker?.postMessage({ ...question, body }, [body.buffer]);
      this.#sent++;
    }
  }

  #settle(answer: A): void {
    const head = this.#waiting.shift();
    this.#sent--;
    this.#setAlarm();
    if (this.#waiting.length === 0) this.#worker?.unref();
    else this.#send();
    head?.resolve(answer);
  }

  /** Only the head's time is counted: those behind it cannot have begun. */
  #setAlarm(): void {
    clearTimeout(this.#alarm);
    const head = this.#waiting[0];
    if (!head || !this.#isReady || this.#deadlineMs === Number.POSITIVE_INFINITY) return;

    const dueAt = performance.now() + this.#deadlineMs;
    this.#alarm = setTimeout(() => {
      if (performance.now() - dueAt > stalledMs) this.#setAlarm();
      // Messages are read after timers: the answer may have been here for a while.
      else setImmediate(() => this.#giveUpOn(head));
    }, this.#deadlineMs);
  }

  #giveUpOn(head: Waiting<Q, A>): void {
    if (this.#waiting[0] !== head || !this.#isReady) return;
    const worker = this.#forget();
    worker?.unref();
    worker?.terminate();
    this.#reject(1, new DeadlineExceeded(`No answer within ${this.#deadlineMs} ms.`));
    if (this.#waiting.length > 0) this.#start();
  }

  /** A thread that was ready died over the head. One that never was would die again over all the others. */
  #mourn(worker: Worker, error: Error): void {
    if (worker !== this.#worker) return;
    const lost = this.#isReady ? 1 : this.#waiting.length;
    this.#forget();
    this.#reject(lost, error);
    if (this.#waiting.length > 0) this.#start();
  }

  #forget(): Worker | undefined {
    const worker = this.#worker;
    clearTimeout(this.#alarm);
    this.#worker = undefined;
    this.#isReady = false;
    this.#sent = 0;
    return worker;
  }

  #reject(count: number, error: Error): void {
    for (const { reject } of this.#waiting.splice(0, count)) reject(error);
  }
}
