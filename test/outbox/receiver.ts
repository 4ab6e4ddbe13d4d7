import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  path: string;
  body: { id: string; event: string; build: string | null; times: number };
  at: number;
}

/** Answers a request. Default: 200. */
export type Behaviour = (response: ServerResponse, received: Received, request: IncomingMessage) => void;

export type StandIn = Awaited<ReturnType<typeof openReceiver>>;

/** Starts a receiver on this machine that behaves as a test wants. */
export async function openReceiver() {
  const received: Received[] = [];
  let behave: Behaviour = (response) => response.end("thanks");
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const each: Received = { path: request.url ?? "", body: JSON.parse(text || "{}"), at: performance.now() };
    received.push(each);
    behave(response, each, request);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    /** The events that it was sent, oldest first. */
    events: () => received.map(({ body }) => body.event),
    behave(next: Behaviour | number, headers: Record<string, string> = {}) {
      behave = typeof next === "number" ? (response) => response.writeHead(next, headers).end("no") : next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
