import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy that a test can close. */
export interface Door {
  url: string;
  openTo(url: string): Promise<void>;
  shut(): Promise<void>;
}

export async function makeDoor(): Promise<Door> {
  let target = { hostname: "", port: 0 };
  const open = new Set<Socket>();
  const server = createServer((caller) => {
    const called = connect(target.port, target.hostname);
    for (const [from, to] of [
      [caller, called],
      [called, caller],
    ] as const) {
      open.add(from);
      from.on("error", () => {});
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  const listen = async (port: number) => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const shut = async () => {
    const closed = once(server, "close");
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };

  const port = await listen(0);
  await shut();
  return {
    url: `http://127.0.0.1:${port}`,
    async openTo(url) {
      const { hostname, port: targetPort } = new URL(url);
      target = { hostname, port: Number(targetPort) };
      if (!server.listening) await listen(port);
    },
    shut: () => (server.listening ? shut() : Promise.resolve()),
  };
}
