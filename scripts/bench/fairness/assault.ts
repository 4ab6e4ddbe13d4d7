import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Call, type Client, openClient } from "./client.ts";
import type { Tenant } from "./tenants.ts";

export interface Assault {
  attacker: Tenant;
  /** Call it once all requests are on their way. */
  begin(): void;
  /** Counts the attacker's answers, by status. */
  count(kind: string | number): void;
  /** Ends the attack. */
  signal: AbortSignal;
}

const network = "203.0.113.";
export const retryMs = 50;
const maxOpeningMs = 5000;

export function attackingClient({ url }: Tenant): Client {
  return openClient(url, () => `${network}1`);
}

/** Calls over this many connections, on each one after the other. */
export async function keepCalling(
  { attacker, begin, count, signal }: Assault,
  connections: number,
  nextCall: () => Call,
  pauseMs = 0,
  client: Client = attackingClient(attacker),
): Promise<void> {
  const keep = async () => {
    while (!signal.aborted) {
      const kind = await client(nextCall()).then(
        ({ status }) => status,
        () => "closed",
      );
      count(kind);
      await sleep(kind === "closed" ? retryMs : pauseMs);
    }
  };
  const calling = Array.from({ length: connections }, keep);
  begin();
  await Promise.all(calling);
}

/** The head of a request and half of its body. */
export function stalled(path: string, type: string, length: number): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: localhost",
    `X-Forwarded-For: ${network}2`,
    `Content-Type: ${type}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\nContent-Length: ${length}\r\n\r\n${"x".repeat(length / 2)}`);
}

/** Keeps this many sockets open, which send these bytes and never read. Each is replaced once it is closed. */
export async function keepSockets(
  { attacker, begin, count, signal }: Assault,
  sockets: number,
  bytes: Buffer,
): Promise<void> {
  const open = new Set<Socket>();
  const keep = async () => {
    while (!signal.aborted) {
      const socket = await openUnread(attacker.url, bytes);
      open.add(socket);
      if (open.size === sockets) begin();
      await once(socket, "close", { signal }).catch(() => undefined);
      count(signal.aborted ? "open" : "closed");
      open.delete(socket);
      socket.destroy();
      await sleep(retryMs);
    }
  };
  // A server that closes them early never has all of them.
  setTimeout(begin, maxOpeningMs).unref();
  await Promise.all(Array.from({ length: sockets }, keep));
}

async function openUnread(url: string, bytes: Buffer): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.once("connect", () => socket.pause().write(bytes));
  await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => undefined);
  return socket;
}
