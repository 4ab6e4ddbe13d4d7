import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Scratch } from "../../scratch/scratch.ts";

/** The receiver of a notification service, and what it was told. */
export interface Receiver {
  url: string;
  /** The last state of each build, by its id. */
  told: ReadonlyMap<string, string>;
}

export async function openReceiver(scratch: Scratch): Promise<Receiver> {
  const told = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { build } = JSON.parse(Buffer.concat(chunks).toString()) as {
      build?: { id: string; state: string };
    };
    if (build) told.set(build.id, build.state);
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  scratch.onClose(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, told };
}
