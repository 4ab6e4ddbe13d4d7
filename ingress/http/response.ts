import { ServerResponse, STATUS_CODES } from "node:http";
import type { H3Event } from "h3";

/** Called with the status of a response when its head is written. */
export type HeadListener = (event: H3Event, status: number) => void;

/**
 * Node's response, with one write for the head and one for the socket. Node's own `setHeader` keeps a map, which
 * `writeHead` then merges with the framework's headers, one by one.
 */
export class StagedResponse extends ServerResponse {
  /** Names and values in turn. */
  readonly #staged: string[] = [];
  #event: H3Event | undefined;
  #listener: HeadListener | undefined;
  /** True while a body of known length may still be the only chunk. */
  #isWhole = false;
  #chunk: string | Uint8Array | undefined;

  /** Calls the listener once. */
  onHead(event: H3Event, listener: HeadListener): void {
    this.#event = event;
    this.#listener = listener;
  }

  /** Sets a header. Headers of the answer itself replace it. */
  stage(name: string, value: string): void {
    const index = findHeader(this.#staged, name);
    if (index === -1) this.#staged.push(name, value);
    else this.#staged[index + 1] = value;
  }

  /** srvx gives names and values in turn; Node itself gives none. */
  override writeHead(status: number, reason?: unknown, given?: unknown): this {
    const headers = Array.isArray(given) ? (given as string[]) : [];
    this.#isWhole = findHeader(headers, "content-length") !== -1;
    this.#addStaged(headers);
    super.writeHead(status, (reason as string) || STATUS_CODES[status] || "Unknown", headers);
    const listener = this.#listener;
    this.#listener = undefined;
    if (this.#event) listener?.(this.#event, status);
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
    if (rest.length === 0) {
      this.#chunk = undefined;
      return super.end(chunk);
    }
    this.#flush();
    return super.end(...(rest as []));
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

/** Returns the index of a name among names and values in turn, or -1. */
function findHeader(headers: string[], name: string, end = headers.length): number {
  for (let index = 0; index < end; index += 2) {
    const other = headers[index] as string;
    if (other.length === name.length && other.toLowerCase() === name.toLowerCase()) return index;
  }
  return -1;
}
