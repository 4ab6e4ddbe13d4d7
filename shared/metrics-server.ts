import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Services } from "./services.ts";

/** Prometheus metrics on a port of their own, so that the public address never shows them. */
export async function startMetricsServer({ config, metrics }: Services, port: number) {
  metrics.collectProcess();
  const server = createServer(async (request, response) => {
    if (request.url !== "/metrics") return response.writeHead(404).end();
    response.setHeader("Content-Type", metrics.registry.contentType);
    response.end(await metrics.registry.metrics());
  });
  server.listen(port, config.host);
  await once(server, "listening");
  return {
    url: `http://${config.host}:${(server.address() as AddressInfo).port}/metrics`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
