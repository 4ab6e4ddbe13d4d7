import type { Server } from "node:http";
import type { Socket } from "node:net";
import proxyAddr from "proxy-addr";
import { shares } from "../../shared/sharing/bounds.ts";
import { Shares } from "../../shared/sharing/shares.ts";
import { withoutMapping } from "./client-address.ts";
import { networksOf } from "./network.ts";

const busy =
  "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/**
 * Gives each network a share of the connections, so that idle ones of one network shut out no other. Trusted proxies
 * have no share: they carry everybody.
 * @returns the open connections
 */
export function shareConnections(
  server: Server,
  { maxConnections, trustedProxies }: { maxConnections: number; trustedProxies: string[] },
): ReadonlySet<Socket> {
  const isTrusted = proxyAddr.compile(trustedProxies);
  const open = new Set<Socket>();
  const slots = new Shares({ ...shares.connections, max: maxConnections });

  server.maxConnections = maxConnections;
  server.on("connection", (socket: Socket) => {
    const address = withoutMapping(socket.remoteAddress ?? "");
    const slot = isTrusted(address, 0) ? undefined : slots.take(networksOf(address));
    if (typeof slot === "string") {
      socket.end(busy, () => socket.destroy());
      return;
    }
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      if (slot) slots.release(slot);
    });
  });
  return open;
}
