import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Stands between a client and a server, and does to their connections what networks do. */
export interface TcpProxy {
  port: number;
  /** Ends all connections with a reset. */
  cut(): void;
  /** Open connections carry nothing from now on and stay open, as behind a firewall that forgot them. */
  silence(): void;
  /** Ends the silent connections, as a keep-alive does at last. */
  endSilent(): void;
  /** New connections are reset until `accept`. */
  refuse(): void;
  accept(): void;
  /** Each chunk waits this long, in each direction, and those behind it too. 0 ends it. */
  delay(ms: number): void;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1. */
export async function openTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<[Socket, Socket]>();
  let isRefusing = false;
  let delayMs = 0;

  const server = createServer((client) => {
    if (isRefusing) return void client.resetAndDestroy();
    const upstream = connect(target);
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client]] as const) {
      from.setNoDelay(true);
      let sent = Promise.resolve();
      from.on("data", (chunk) => {
        const due = delayMs === 0 ? undefined : sleep(delayMs);
        // One after the other: a chunk must not overtake those of a longer delay.
        sent = sent.then(() => due).then(() => void (pairs.has(pair) && to.write(chunk)));
      });
      from.on("error", () => {}); // close follows
      from.on("close", () => {
        // Once silent, neither end learns of the other's close.
        if (pairs.delete(pair)) to.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const silenced = new Set<Socket>();
  const endSilent = () => {
    for (const socket of silenced) socket.destroy();
    silenced.clear();
  };
  const endAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
    pairs.clear();
  };

  return {
    port: (server.address() as AddressInfo).port,
    cut: endAll,
    silence() {
      for (const pair of pairs) for (const socket of pair) silenced.add(socket);
      pairs.clear();
    },
    endSilent,
    refuse() {
      isRefusing = true;
    },
    accept() {
      isRefusing = false;
    },
    delay(ms) {
      delayMs = ms;
    },
    async close() {
      endAll();
      endSilent();
      server.close();
      await once(server, "close");
    },
  };
}
