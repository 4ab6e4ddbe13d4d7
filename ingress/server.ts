import type { Server } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "h3";
import type { Services } from "../shared/runtime/services.ts";
import { openRefusalCounts } from "../shared/triggers/deliveries/refusal-counts.ts";
import { createApp } from "./app.ts";
import { answerClientErrors } from "./http/client-error.ts";

export interface Ingress {
  /** The address that it listens on, without a trailing slash. */
  url: string;
  /** Accepts no more connections, finishes running requests within the deadline, then cuts off the rest. */
  close(): Promise<void>;
}

/** Time for clients with idle connections to see `Connection: close` before the port closes. */
const maxDrainMs = 500;
const keepAliveMs = 65_000;
const checkConnectionsEveryMs = 1000;

/**
 * Serves the app on the configured host and port; port 0 picks a free one.
 * @throws when the port is taken
 */
export async function startIngress(services: Services): Promise<Ingress> {
  const { config } = services;
  warnOfPlainHttp(services);
  await services.awaitRedis();
  let isClosing = false;
  const refused = openRefusalCounts(services);
  const server = serve(createApp(services, { refused, isClosing: () => isClosing }), {
    hostname: config.host,
    port: config.port,
    // Lets several processes share the port.
    reusePort: process.platform === "linux" && config.port !== 0,
    gracefulShutdown: false,
    silent: true,
    node: {
      headersTimeout: config.headersTimeoutMs,
      requestTimeout: config.requestTimeoutMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: checkConnectionsEveryMs,
      maxHeaderSize: 16 * 1024,
    },
  });
  await server.ready();
  const node = server.node?.server as Server;
  node.maxConnections = config.maxConnections;
  node.on("clientError", answerClientErrors(services.log));
  const sockets = new Set<Socket>();
  node.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });

  return {
    url: (server.url ?? "").replace(/\/$/, ""),
    async close() {
      isClosing = true;
      await sleep(Math.min(maxDrainMs, config.shutdownMs / 10));
      const closed = server.close();
      node.closeIdleConnections();
      // Browsers open connections ahead of need. Node does not count them as idle, and would wait for them.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      await Promise.race([closed, sleep(config.shutdownMs, undefined, { ref: false })]);
      node.closeAllConnections();
      await closed;
      await refused.close();
    },
  };
}

/** On plain http anybody on the network path can steal a session. Behind a TLS proxy the addresses say https. */
function warnOfPlainHttp({ config, log }: Services): void {
  const plain = [...new Set([config.appUrl, config.authUrl])].filter((url) => url.startsWith("http:"));
  if (plain.length > 0)
    log.warn(
      { addresses: plain },
      "pages are on plain http, so their cookies are not Secure: set PUBLIC_URL to https://…",
    );
}
