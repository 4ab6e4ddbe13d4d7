import type { IncomingMessage } from "node:http";
import type { H3Event } from "h3";
import { secondMs } from "../../shared/durations.ts";
import { type Refusal, unavailable } from "../../shared/refusal.ts";
import { nodeRequest } from "./node.ts";

/** The client closed the connection before its body was complete. */
export class ClientDisconnected extends Error {
  override readonly name = "ClientDisconnected";
}

/** A body in memory. */
export interface RequestBody extends Disposable {
  bytes: Buffer;
  /** Returns its bytes to the budget, as disposing does: `using` costs a microsecond. */
  release(): void;
}

/** Reads bodies within one budget of bytes for the process. */
export interface Bodies {
  /** @throws the refusal of `tooLarge`; Refusal 503 over the budget; ClientDisconnected */
  read(event: H3Event, maxBytes: number, tooLarge: () => Refusal): Promise<RequestBody>;
}

/** A refused body is discarded up to these limits, so that its sender reads the answer. */
const discardMs = secondMs;
const discardFactor = 4;
const retryAfterSeconds = 5;
const smallChunkBytes = 1024;
const maxSmallChunks = 1024;

export function openBodies(maxBytesInFlight: number): Bodies {
  const budget: Budget = { left: maxBytesInFlight };
  return {
    read: (event, maxBytes, tooLarge) =>
      new Promise((resolve, reject) => {
        new Reader(nodeRequest(event), { maxBytes, tooLarge, budget, resolve, reject }).start();
      }),
  };
}

interface Budget {
  left: number;
}

interface Reading {
  maxBytes: number;
  tooLarge: () => Refusal;
  budget: Budget;
  resolve: (body: RequestBody) => void;
  reject: (error: Error) => void;
}

const noBytes = Buffer.alloc(0);
const reader = Symbol("reader");

interface ReadRequest extends IncomingMessage {
  [reader]?: Reader;
}

// Functions of the module, with the reader found on the request: a closure for each event costs more.
function onData(this: ReadRequest, chunk: Buffer): void {
  this[reader]?.add(chunk);
}
function onEnd(this: ReadRequest): void {
  this[reader]?.end();
}
/** Follows an error, too. Complete requests close too. */
function onClose(this: ReadRequest): void {
  this[reader]?.disconnected();
}

/** Reads one body. Three times faster than `event.req.arrayBuffer()`. */
class Reader implements RequestBody {
  bytes: Buffer = noBytes;
  readonly #request: ReadRequest;
  readonly #reading: Reading;
  #chunks: Buffer[] = [];
  #smallChunks = 0;
  #size = 0;
  #reserved = 0;
  #refusal: Refusal | undefined;
  #isDone = false;

  constructor(request: IncomingMessage, reading: Reading) {
    this.#request = request;
    this.#reading = reading;
  }

  start(): void {
    const request = this.#request;
    if (request.destroyed) this.disconnected();
    request[reader] = this;
    request.on("data", onData).on("end", onEnd).on("close", onClose);
    const { maxBytes, tooLarge } = this.#reading;
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) this.#refuse(tooLarge());
  }

  release(): void {
    this.#reading.budget.left += this.#reserved;
    this.#reserved = 0;
  }

  [Symbol.dispose](): void {
    this.release();
  }

  add(chunk: Buffer): void {
    if (this.#isDone) return;
    const { maxBytes, tooLarge, budget } = this.#reading;
    this.#size += chunk.length;
    if (this.#refusal) {
      if (this.#size > maxBytes * discardFactor) this.#fail(this.#refusal);
      return;
    }
    if (this.#size > maxBytes) this.#refuse(tooLarge());
    else if (budget.left < chunk.length) this.#refuse(unavailable(retryAfterSeconds));
    else this.#keep(chunk);
  }

  #keep(chunk: Buffer): void {
    this.#reading.budget.left -= chunk.length;
    this.#reserved += chunk.length;
    this.#chunks.push(chunk);
    if (chunk.length < smallChunkBytes) this.#smallChunks++;
    if (this.#smallChunks === maxSmallChunks) this.#merge();
  }

  /** Otherwise a body of single bytes costs a hundred times its size. */
  #merge(): void {
    const small = this.#chunks.splice(-maxSmallChunks);
    this.#chunks.push(Buffer.concat(small));
    this.#smallChunks = 0;
  }

  end(): void {
    if (this.#refusal) this.#fail(this.#refusal);
    if (this.#isDone) return;
    this.#isDone = true;
    const [first] = this.#chunks;
    if (first) this.bytes = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#reading.resolve(this);
  }

  #refuse(refusal: Refusal): void {
    this.#refusal = Object.assign(refusal, { headers: { ...refusal.headers, Connection: "close" } });
    this.#chunks = [];
    this.release();
    setTimeout(() => this.#fail(refusal), discardMs).unref();
  }

  disconnected(): void {
    if (!this.#isDone) this.#fail(new ClientDisconnected("The client closed the connection"));
  }

  #fail(error: Error): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.release();
    this.#reading.reject(error);
  }
}
