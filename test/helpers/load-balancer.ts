import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Sends each request to the next server whose /readyz is 200, over connections kept alive. Never retries. */
export async function openLoadBalancer(): Promise<{
  url: string;
  add(server: string): void;
  /** Call it for a server that has ended: programs of other tests may get its port. */
  remove(server: string): void;
  isReady(server: string): boolean;
  close(): Promise<void>;
}> {
  const agent = new Agent({ keepAlive: true });
  const servers = new Map<string, boolean>();
  let next = 0;
  let isClosed = false;

  const check = async () => {
    while (!isClosed) {
      for (const server of servers.keys()) {
        const isReady = await fetch(`${server}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
        if (servers.has(server)) servers.set(server, isReady);
      }
      await sleep(50);
    }
  };
  const balancer = createServer((incoming, outgoing) => {
    const ready = [...servers].filter(([, isReady]) => isReady).map(([server]) => server);
    const target = new URL(incoming.url ?? "/", ready[next++ % ready.length]);
    const options = { agent, method: incoming.method, headers: incoming.headers };
    const forwarded = request(target, options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, { "content-type": answer.headers["content-type"] });
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  balancer.listen(0, "127.0.0.1");
  await once(balancer, "listening");
  const checking = check();

  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    add: (server) => void servers.set(server, false),
    remove: (server) => void servers.delete(server),
    isReady: (server) => servers.get(server) === true,
    async close() {
      isClosed = true;
      await checking;
      agent.destroy();
      balancer.closeAllConnections();
      balancer.close();
    },
  };
}
