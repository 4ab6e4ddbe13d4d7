import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type PlainRequest, requestBytes } from "../load/request.ts";
import { type Client, openClient } from "./client.ts";
import type { Tenant } from "./tenants.ts";

export const address = "203.0.113.1";
const retryMs = 50;
const maxOpeningMs = 5000;

/** The means of one attack. */
export class Assault {
  readonly attacker: Tenant;
  readonly client = openClient(() => address);
  /** Counts by kind. */
  readonly answers: Record<string, number> = {};
  readonly #signal: AbortSignal;
  readonly #begin: () => void;

  constructor(attacker: Tenant, signal: AbortSignal, begin: () => void) {
    this.attacker = attacker;
    this.#signal = signal;
    this.#begin = begin;
  }

  /** Calls over this many connections, on each one after the other. */
  keepCalling(
    connections: number,
    nextRequest: () => PlainRequest,
    { pauseMs = retryMs, client = this.client }: { pauseMs?: number; client?: Client } = {},
  ): Promise<void> {
    const call = () => client(nextRequest());
    return this.keepDoing(
      Array.from({ length: connections }, () => call),
      pauseMs,
    );
  }

  /** Makes these calls at once, and each again when it has its answer. */
  async keepDoing(calls: (() => Promise<{ status: number }>)[], pauseMs: number): Promise<void> {
    const keep = async (call: () => Promise<{ status: number }>) => {
      while (!this.#signal.aborted) {
        const kind = await call().then(
          ({ status }) => status,
          () => "closed",
        );
        this.#count(kind);
        await sleep(kind === "closed" ? retryMs : pauseMs);
      }
    };
    const calling = calls.map(keep);
    this.#begin();
    await Promise.all(calling);
  }

  /** Like `keepCalling`, and lets each answer go as it comes: the attacker needs no memory for it. */
  keepReading(connections: number, { method, url, headers = {} }: PlainRequest): Promise<void> {
    const read: Client = async () => {
      const init = { method, headers: { "X-Forwarded-For": address, ...headers }, signal: this.#signal };
      const answer = await fetch(url, init);
      for await (const _ of answer.body ?? []);
      return { status: answer.status, headers: answer.headers, text: "" };
    };
    return this.keepCalling(connections, () => ({ method, url }), { client: read });
  }

  /**
   * Keeps this many sockets open, which send a request and never read. Each is replaced once it is closed.
   * @param isStalled sends only half of the body
   */
  async keepSockets(sockets: number, request: PlainRequest, isStalled = false): Promise<void> {
    const headers = { "X-Forwarded-For": address, ...request.headers };
    const whole = requestBytes({ ...request, headers });
    const bytes = isStalled ? whole.subarray(0, whole.length / 2) : whole;
    const open = new Set<Socket>();
    const keep = async () => {
      while (!this.#signal.aborted) {
        const socket = await openUnread(request.url, bytes);
        open.add(socket);
        if (open.size === sockets) this.#begin();
        await once(socket, "close", { signal: this.#signal }).catch(() => undefined);
        this.#count(this.#signal.aborted ? "open" : "closed");
        open.delete(socket);
        socket.destroy();
        await sleep(retryMs);
      }
    };
    // A server that closes them early never has all of them.
    setTimeout(this.#begin, maxOpeningMs).unref();
    await Promise.all(Array.from({ length: sockets }, keep));
  }

  #count(kind: string | number): void {
    this.answers[kind] = (this.answers[kind] ?? 0) + 1;
  }
}

async function openUnread(url: string, bytes: Buffer): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.once("connect", () => socket.pause().write(bytes));
  await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => undefined);
  return socket;
}
