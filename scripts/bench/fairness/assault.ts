import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { beginJob, register } from "../agents/agent.ts";
import { manyKeys, megabyte } from "../bodies.ts";
import { type PlainRequest, postJson, requestBytes } from "../load/request.ts";
import { authorized, openClient } from "./client.ts";
import type { FairTenant } from "./tenants.ts";

export const sender = { "X-Forwarded-For": "203.0.113.1" };
const retryMs = 50;
const maxOpeningMs = 5000;

/** The means of one attack. */
export class Assault {
  readonly attacker: FairTenant;
  readonly client = openClient(() => sender["X-Forwarded-For"]);
  /** Counts by kind. */
  readonly answers: Record<string, number> = {};
  readonly #signal: AbortSignal;
  readonly #begin: () => void;

  constructor(attacker: FairTenant, signal: AbortSignal, begin: () => void) {
    this.attacker = attacker;
    this.#signal = signal;
    this.#begin = begin;
  }

  /** Makes as many calls at once, and each again when it has its answer. */
  async keep(calls: number, call: () => Promise<{ status: number }>, pauseMs = retryMs): Promise<void> {
    const keepOne = async () => {
      while (!this.#signal.aborted) {
        const kind = await call().then(
          ({ status }) => status,
          () => "closed",
        );
        this.#count(kind);
        await sleep(kind === "closed" ? retryMs : pauseMs);
      }
    };
    const calling = Array.from({ length: calls }, keepOne);
    this.#begin();
    await Promise.all(calling);
  }

  /** Keeps sending requests in turn over as many connections. */
  keepSending(connections: number, requests: PlainRequest[], pauseMs = retryMs): Promise<void> {
    let sent = 0;
    const next = () => this.client(requests[sent++ % requests.length] as PlainRequest);
    return this.keep(connections, next, pauseMs);
  }

  /** Like `keepSending`, and lets each answer go as it comes: the attacker needs no memory for it. */
  keepReading(connections: number, { method, url, headers }: PlainRequest): Promise<void> {
    const init = { method, headers: { ...sender, ...headers }, signal: this.#signal };
    return this.keep(connections, async () => {
      const answer = await fetch(url, init);
      for await (const _ of answer.body ?? []);
      return answer;
    });
  }

  /**
   * Keeps this many sockets open, which send a request and never read. Each is replaced once it is closed.
   * @param isStalled sends only half of the body
   */
  async keepSockets(sockets: number, request: PlainRequest, isStalled = false): Promise<void> {
    const whole = requestBytes({ ...request, headers: { ...sender, ...request.headers } });
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

/** An attack that keeps sending requests. */
export function sending(
  connections: number,
  requests: (attacker: FairTenant) => PlainRequest[],
  pauseMs?: number,
) {
  return (assault: Assault) => assault.keepSending(connections, requests(assault.attacker), pauseMs);
}

/** An attack that keeps reading an answer. */
export function reading(connections: number, request: (attacker: FairTenant) => PlainRequest) {
  return (assault: Assault) => assault.keepReading(connections, request(assault.attacker));
}

/** A request of the attacker's admin. */
export function get(attacker: FairTenant, url: string): PlainRequest {
  return authorized(attacker, { method: "GET", url });
}

/** Updates of 1 MB of brackets, and of many members. */
export function largeUpdates(attacker: FairTenant): PlainRequest[] {
  const deep = `{"a":${"[".repeat(500_000)}${"]".repeat(500_000)}}`;
  const bodies = ["[".repeat(megabyte - 1), deep, manyKeys().slice(0, -1)];
  const update = (body: string) => ({
    ...postJson(attacker.rest.cluster, body.slice(0, megabyte)),
    method: "PUT" as const,
  });
  return bodies.map((body) => authorized(attacker, update(body)));
}

/** Slow to filter, quick to accept. */
export function textOf(bytes: number): string {
  return JSON.stringify({ a: "x".repeat(bytes) });
}

/** @returns the id of a delivery of 4.7 MB */
export async function deliverLarge({ attacker, client }: Assault): Promise<string> {
  return JSON.parse((await client(postJson(attacker.deliveryUrl, textOf(4.7 * megabyte)))).text).id;
}

/** An agent of the attacker begins a job. */
export async function begin({ attacker: { url, agentToken } }: Assault) {
  return beginJob(await register(url, agentToken, 1));
}
