import type { Server } from "node:http";
import type { Socket } from "node:net";
import proxyAddr from "proxy-addr";
import { networkOf, wideNetworkOf } from "./network.ts";

/** Parts of all connections that one address or /64, and one /24 or /48, can have once half are taken. */
const shares = { network: 1 / 8, wideNetwork: 1 / 4 };

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
  const counts = new Map<string, number>();
  const count = (owner: string, change: 1 | -1) => {
    const changed = (counts.get(owner) ?? 0) + change;
    if (changed === 0) counts.delete(owner);
    else counts.set(owner, changed);
  };
  const hasShare = (owner: string, share: number) => (counts.get(owner) ?? 0) < maxConnections * share;

  server.maxConnections = maxConnections;
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const [network, wideNetwork] = [networkOf(address), `wide ${wideNetworkOf(address)}`];
    const isAdmitted =
      open.size < maxConnections / 2 ||
      isTrusted(address, 0) ||
      (hasShare(network, shares.network) && hasShare(wideNetwork, shares.wideNetwork));
    if (!isAdmitted) {
      socket.end(busy, () => socket.destroy());
      return;
    }
    open.add(socket);
    for (const owner of [network, wideNetwork]) count(owner, 1);
    socket.once("close", () => {
      open.delete(socket);
      for (const owner of [network, wideNetwork]) count(owner, -1);
    });
  });
  return open;
}
