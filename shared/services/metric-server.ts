import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Services } from "./services.ts";

/** Processes of one machine share the port setting. */
const maxPorts = 50;

/**
 * Uses a separate port: the public address never shows metrics.
 * @throws Error when no port is free
 */
export async function startMetricsServer({ config, metrics }: Services, port: number) {
  metrics.collectProcess();
  const server = createServer(async (request, response) => {
    if (request.url !== "/metrics") return response.writeHead(404).end();
    response.setHeader("Content-Type", metrics.registry.contentType);
    response.end(await metrics.registry.metrics());
  });
  await listenFrom(server, port, config.host);
  return {
    url: `http://${config.host}:${(server.address() as AddressInfo).port}/metrics`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listenFrom(server: Server, first: number, host: string): Promise<void> {
  for (let port = first; ; port++) {
    try {
      server.listen(port, host);
      await once(server, "listening");
      return;
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
      if (!isTaken || port === first + maxPorts) throw error;
    }
  }
}
