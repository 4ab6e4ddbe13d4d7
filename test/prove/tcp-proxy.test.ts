import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openTcpProxy } from "../../scripts/prove/tcp-proxy.ts";
import { eventually } from "../helpers/http.ts";

describe("npm run prove, the network", () => {
  it("keeps the order of bytes when a delay becomes shorter, or ends", async () => {
    let received = "";
    const server = createServer((socket) => {
      socket.on("data", (bytes) => {
        received += bytes;
      });
      socket.on("error", () => {}); // the proxy resets it at the end
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const proxy = await openTcpProxy({ host: "127.0.0.1", port: (server.address() as AddressInfo).port });
    const client = connect(proxy.port, "127.0.0.1");
    client.on("error", () => {});

    for (const [text, delayMs] of [
      ["1", 400],
      ["2", 200],
      ["3", 0],
    ] as const) {
      proxy.delay(delayMs);
      client.write(text);
      await sleep(20); // the proxy reads it
    }
    await eventually("all bytes", async () => received.length === 3);

    assert.equal(received, "123");
    client.destroy();
    await proxy.close();
    server.close();
  });
});
