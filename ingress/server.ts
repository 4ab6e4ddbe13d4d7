import type { Server, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "h3";
import { openHandOut } from "../shared/agents/hand-out/hand-out.ts";
import { openLeaseBatches } from "../shared/agents/lease-batches.ts";
import { openPresence } from "../shared/agents/presence.ts";
import { tasksOfBuilds } from "../shared/builds/task-handlers.ts";
import { DeviceFlow } from "../shared/device/flow.ts";
import { secondMs } from "../shared/durations.ts";
import { findUnfinished } from "../shared/process/unfinished.ts";
import type { Services } from "../shared/services/services.ts";
import type { Config } from "../shared/settings/config.ts";
import { addressesOnPlainHttp } from "../shared/settings/urls.ts";
import { openTasks } from "../shared/tasks/runner.ts";
import { openRefusalCounts } from "../shared/triggers/deliveries/refusal-counts.ts";
import { openRefusedRequests } from "../shared/triggers/deliveries/refused-requests.ts";
import { createApp } from "./app.ts";
import { answerClientErrors, ignoreEmptyExpect } from "./http/client-error.ts";
import { shareConnections } from "./http/connections.ts";
import { StagedResponse } from "./http/response.ts";
import { Installation, refusePortOfAnother } from "./installation.ts";

export interface Ingress {
  /** Without a trailing slash. */
  url: string;
  /** Drains, finishes running requests and last writes within the deadline, then cuts off the rest. */
  close(): Promise<void>;
}

/** Time for idle clients to see `Connection: close`. */
const idleClientMs = 500;
/** The time for last writes if requests took all of the deadline. */
const minLastWritesMs = secondMs;
const keepAliveMs = 65 * secondMs;
const checkConnectionsEveryMs = secondMs;
/** Connections that wait to be accepted. With Node's 511 a busy machine resets some of 1,000 simultaneous senders. */
const backlog = 4096;

/**
 * Serves the app on the configured host and port; port 0 picks a free one.
 * @throws when the port is taken
 */
export async function startIngress(services: Services): Promise<Ingress> {
  const { config } = services;
  warnOfPlainHttp(services);
  await services.awaitRedis();
  const installation = new Installation(services.db);
  await installation.read();
  await refusePortOfAnother(config, installation);
  let isClosing = false;
  const hot = { ...services, db: services.hotDb };
  const deviceFlow = new DeviceFlow(hot);
  const refusals = openRefusalCounts(services);
  const refusedRequests = openRefusedRequests(services);
  const presence = openPresence(services);
  const tasks = openTasks(services, tasksOfBuilds);
  const app = createApp(services, {
    installation,
    hot,
    deviceFlow,
    refusals,
    refusedRequests,
    agents: { handOut: openHandOut(services), leases: openLeaseBatches(services), presence },
    isClosing: () => isClosing,
  });
  const server = serve(app, listenOptions(config));
  await server.ready();
  const node = server.node?.server as Server;
  node.on("clientError", answerClientErrors(services.log));
  ignoreEmptyExpect(node);
  const sockets = shareConnections(node, config);

  return {
    url: (server.url ?? "").replace(/\/$/, ""),
    async close() {
      isClosing = true;
      await sleep(Math.max(config.drainMs, Math.min(idleClientMs, config.shutdownMs / 10)));
      const endBy = performance.now() + config.shutdownMs;
      const closed = server.close();
      node.closeIdleConnections();
      // Browsers open connections ahead of need. Node does not count them as idle.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      await Promise.race([closed, sleep(config.shutdownMs, undefined, { ref: false })]);
      node.closeAllConnections();
      await closed;
      const leftMs = Math.max(minLastWritesMs, endBy - performance.now());
      const unfinished = await findUnfinished(leftMs, {
        "device flow": deviceFlow.close(),
        "refusal counts": refusals.close(),
        "refused requests": refusedRequests.close(),
        presence: presence.close(),
        tasks: tasks.close(),
      });
      if (unfinished.length > 0) services.log.warn({ unfinished }, "stops in the middle of its last writes");
    },
  };
}

function listenOptions(config: Config) {
  return {
    hostname: config.host,
    port: config.port,
    // Processes share the port.
    reusePort: process.platform === "linux" && config.port !== 0,
    gracefulShutdown: false,
    silent: true,
    node: {
      ServerResponse: StagedResponse as unknown as typeof ServerResponse,
      headersTimeout: config.headersTimeoutMs,
      requestTimeout: config.requestTimeoutMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: checkConnectionsEveryMs,
      maxHeaderSize: 16 * 1024,
      backlog,
    },
  };
}

function warnOfPlainHttp({ config, log }: Services): void {
  const addresses = addressesOnPlainHttp(config);
  if (addresses.length === 0) return;
  log.warn(
    { addresses },
    "pages and sign-ins are on plain http: tokens and passwords travel unencrypted, and cookies are not Secure. Set PUBLIC_URL to https://…",
  );
}
