import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ownerOfNetwork } from "../../../shared/sharing/owner.ts";
import { seeOwner } from "../../../shared/sharing/presence.ts";
import { loopTurn } from "../../../shared/sharing/resources.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { startWorld } from "../../helpers/world.ts";

describeWorldOn(sqlite, "a body that nobody reads", startWorld, (world) => {
  it("is dropped though many requests of its network wait to begin, so that its connection stays", async () => {
    const over = new AbortController();
    const isThere = setInterval(() => seeOwner("another organization"), 5);
    const owner = ownerOfNetwork("127.0.0.0/24");
    const waiting = Promise.allSettled(Array.from({ length: 2000 }, () => loopTurn(owner, over.signal)));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = async (method: string, path: string, body?: Buffer) => {
      const sent = request(world.url + path, { method, agent });
      sent.end(body);
      const [answer] = (await once(sent, "response")) as [IncomingMessage];
      answer.resume();
      await once(answer, "end");
      return { status: answer.statusCode, isReused: sent.reusedSocket };
    };

    assert.equal((await send("POST", "/nowhere", Buffer.alloc(400_000))).status, 404);
    await sleep(1200); // a body is dropped for a second
    const next = await send("GET", "/nowhere");

    assert.deepEqual([next.status, next.isReused], [404, true]);
    over.abort();
    clearInterval(isThere);
    await waiting;
    agent.destroy();
  });

  it("has no slot any more once its client has gone", async () => {
    const { hostname, port } = new URL(world.url);
    const begin = (path: string, bytes: number) => {
      const type = "Content-Type: multipart/form-data; boundary=b";
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: ${bytes}\r\n\r\n`;
      const socket = connect(Number(port), hostname);
      socket.write(`${head}--b\r\n`);
      return socket;
    };
    for (let index = 0; index < 150; index++) {
      const socket = begin("/v3/artifacts/upload", 1000);
      await once(socket, "connect");
      await sleep(2);
      socket.destroy();
    }
    await sleep(100);

    const socket = begin("/v3/nowhere", 1000);
    const [answer] = (await once(socket, "data")) as [Buffer];
    assert.match(String(answer), /^HTTP\/1\.1 404 /);
    await sleep(100);
    assert.equal(socket.closed, false);
    socket.destroy();
  });
});
