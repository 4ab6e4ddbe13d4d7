import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { sqlite } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { startWorld, type World } from "../helpers/world.ts";

const maxConnections = 80;

/** A server on `::` sees IPv4 addresses as IPv6 ones. */
const hosts = existsSync("/proc/net/if_inet6") ? ["127.0.0.1", "::"] : ["127.0.0.1"];

for (const host of hosts)
  describe(`connections that one address leaves idle on ${host}`, () => {
    let world: World;
    const open: Socket[] = [];

    before(async () => {
      world = await startWorld(sqlite, { HOST: host, MAX_CONNECTIONS: String(maxConnections) });
    });
    after(async () => {
      for (const socket of open) socket.destroy();
      await world.close();
    });

    const connectFrom = async (localAddress: string): Promise<Socket> => {
      const socket = connect({ host: "127.0.0.1", port: Number(new URL(world.url).port), localAddress });
      open.push(socket.on("error", () => {}));
      await once(socket, "connect");
      return socket;
    };
    const statusOf = async (socket: Socket): Promise<string> => {
      socket.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
      const [answer] = await once(socket, "data");
      return String(answer).slice(9, 12);
    };

    it("take half of all, and leave the others to other networks", async () => {
      const refusals: Promise<unknown>[] = [];
      for (let count = 0; count < maxConnections; count++)
        refusals.push(once(await connectFrom("127.0.0.1"), "data"));
      await Promise.all(refusals.slice(maxConnections / 2));
      const another = await statusOf(await connectFrom("127.9.9.9"));
      const refused = String(await once(await connectFrom("127.0.0.1"), "data"));

      for (const socket of open) socket.destroy();
      const again = await eventually("a slot for the first address", async () => {
        const status = await statusOf(await connectFrom("127.0.0.1"));
        return status === "200" && status;
      });

      assert.match(refused, /^HTTP\/1\.1 503 .*\r\nRetry-After: 5/);
      assert.deepEqual([another, again], ["200", "200"]);
    });
  });
