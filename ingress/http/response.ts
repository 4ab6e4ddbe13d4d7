import { ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { H3Event } from "h3";
import { secondMs } from "../../shared/durations.ts";
import { forOneAnswer, freeSent } from "../../shared/process/own-buffers.ts";
import type { Transfer } from "./transfers/transfer.ts";

export interface ResponseListeners {
  /** Returns true if the connection takes no further request. */
  isLast(): boolean;
  /** Called once, when the head is written. */
  onHead(event: H3Event, status: number): void;
  /** Called when a large body is about to be sent. */
  onLargeBody(event: H3Event, bytes: number): Transfer | undefined;
}

/** Ends a connection that takes nothing of an answer. Node notices after one to two of these. */
const writeTimeoutMs = 15 * secondMs;
const cookieHeader = "Set-Cookie";
/** Larger bodies are sent in slices, which show how much the client reads. */
const sliceBytes = 64 * 1024;

/**
 * Node's response, with one write for the head and one for the socket. Node's own `setHeader` keeps a map, which
 * `writeHead` then merges with the framework's headers, one by one.
 */
export class StagedResponse extends ServerResponse {
  /** Names and values in turn. Browsers must guess no type: answers may hold a stranger's text. */
  readonly #staged = ["X-Content-Type-Options", "nosniff"];
  #event: H3Event | undefined;
  #listeners: ResponseListeners | undefined;
  /** True while a body of known length may still be the only chunk. */
  #isWhole = false;
  #chunk: string | Uint8Array | undefined;
  #isHeadWritten = false;

  listen(event: H3Event, listeners: ResponseListeners): void {
    this.#event = event;
    this.#listeners = listeners;
  }

  /** Sets a header. Headers of the answer itself replace it. */
  stage(name: string, value: string): void {
    const index = findHeader(this.#staged, name);
    if (index === -1) this.#staged.push(name, value);
    else this.#staged[index + 1] = value;
  }

  /** Sets a cookie, besides others. */
  stageCookie(name: string, cookie: string): void {
    const staged = this.#staged;
    for (let index = 0; index < staged.length; index += 2)
      if (staged[index] === cookieHeader && staged[index + 1]?.startsWith(`${name}=`)) {
        staged[index + 1] = cookie;
        return;
      }
    staged.push(cookieHeader, cookie);
  }

  /** srvx gives names and values in turn, without a reason to requests that say HTTP/2.0; Node itself gives none. */
  override writeHead(status: number, reason?: unknown, given?: unknown): this {
    const headers = (Array.isArray(reason) ? reason : Array.isArray(given) ? given : []) as string[];
    this.#isWhole = findHeader(headers, "content-length") !== -1;
    if (this.#listeners?.isLast()) this.stage("Connection", "close");
    this.#addStaged(headers);
    const phrase = typeof reason === "string" && reason;
    super.writeHead(status, phrase || STATUS_CODES[status] || "Unknown", headers);
    if (!this.#isHeadWritten && this.#event) this.#listeners?.onHead(this.#event, status);
    this.#isHeadWritten = true;
    return this;
  }

  /** srvx writes and ends apart. Together they are one write to the socket. */
  override write(chunk: string | Uint8Array, ...rest: never[]): boolean {
    if (this.#isWhole) {
      this.#isWhole = false;
      this.#chunk = chunk;
      return true;
    }
    this.#flush();
    return super.write(chunk, ...rest);
  }

  override end(...rest: unknown[]): this {
    const chunk = this.#chunk;
    if (chunk === undefined) return super.end(...(rest as []));
    if (rest.length > 0) {
      this.#flush();
      return super.end(...(rest as []));
    }
    this.#chunk = undefined;
    if (chunk.length > sliceBytes) this.#endInSlices(chunk);
    else super.end(chunk);
    if (this.socket) limitWrite(this.socket);
    return this;
  }

  /** An answer to a pipelined request may have ended before its turn. */
  override assignSocket(socket: Socket): void {
    super.assignSocket(socket);
    if (this.writableEnded) limitWrite(socket);
  }

  #endInSlices(chunk: string | Uint8Array): void {
    const bytes = typeof chunk === "string" ? forOneAnswer(Buffer.from(chunk)) : chunk;
    this.once("finish", () => freeSent(bytes));
    const transfer = this.#event && this.#listeners?.onLargeBody(this.#event, bytes.length);
    transfer?.start();
    let index = 0;
    const sendMore = () => {
      for (;;) {
        const slice = bytes.subarray(index, index + sliceBytes);
        index += slice.length;
        transfer?.move(slice.length);
        if (index === bytes.length) return super.end(slice);
        if (!super.write(slice)) return this.once("drain", sendMore);
      }
    };
    sendMore();
  }

  #flush(): void {
    const chunk = this.#chunk;
    this.#chunk = undefined;
    if (chunk !== undefined) super.write(chunk);
  }

  #addStaged(headers: string[]): void {
    const staged = this.#staged;
    const given = headers.length;
    for (let index = 0; index < staged.length; index += 2) {
      const name = staged[index] as string;
      if (findHeader(headers, name, given) === -1) headers.push(name, staged[index + 1] as string);
    }
    staged.length = 0;
  }
}

/** Node's time-out starts again with all progress, and at the next request. */
function limitWrite(socket: Socket): void {
  if (socket.writableLength > 0) socket.setTimeout(writeTimeoutMs);
}

/** Returns the index of a name among names and values in turn, or -1. */
function findHeader(headers: string[], name: string, end = headers.length): number {
  for (let index = 0; index < end; index += 2) {
    const other = headers[index] as string;
    if (other.length === name.length && other.toLowerCase() === name.toLowerCase()) return index;
  }
  return -1;
}
