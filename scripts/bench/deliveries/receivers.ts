import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

// A source host that takes statuses, and the receiver of a webhook, in a process of their own.

let received = 0;

/** Starts both. @returns their address */
export async function listen(): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** Counts requests since the start. */
export function countReceived(): number {
  return received;
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  request.on("end", () => {
    received++;
    const isStatus = request.url?.includes("/statuses/") === true;
    response.writeHead(isStatus ? 201 : 200, { "Content-Type": "application/json" }).end("{}");
  });
}
