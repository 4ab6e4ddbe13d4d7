import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { H3Event } from "h3";
import { openBodies } from "../../ingress/http/body.ts";
import type { RequestBody } from "../../ingress/http/transfers/upload.ts";
import { requestBytes } from "../../scripts/bench/load/request.ts";
import { Refusal } from "../../shared/refusal.ts";
import { eventually } from "../helpers/http.ts";
import { sendRaw } from "../helpers/sockets.ts";

const megabyte = 1024 * 1024;
const count = 40;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

describe("40 bodies of 1 MB", () => {
  it("are in memory once while they wait for their answers", async () => {
    const limits = { maxBodyBytesInFlight: 256 * megabyte, minUploadBytesPerSecond: 0 };
    const bodies = openBodies(limits).deliveries;
    const waiting: (() => void)[] = [];
    const read: RequestBody[] = [];
    const server = createServer(async (req, res) => {
      const event = {
        req,
        context: { clientIp: "127.0.0.1" },
        runtime: { node: { req, res } },
      } as unknown as H3Event;
      read.push(await bodies.read(event, 2 * megabyte, () => new Refusal(413, "")));
      await new Promise<void>((resolve) => waiting.push(resolve));
      res.end("{}");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const request = requestBytes({ method: "POST", url, body: Buffer.alloc(megabyte, "x") });
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;

    const sending = Array.from({ length: count }, () => sendRaw(url, request));
    while (waiting.length < count) await new Promise(setImmediate);
    await eventually(`less than ${count * 1.5} MB`, async () => {
      collectGarbage(); // buffers that it finds are freed later, by another thread
      return (process.memoryUsage().arrayBuffers - before) / megabyte < count * 1.5;
    });
    for (const answer of waiting) answer();
    for (const { status, socket } of await Promise.all(sending)) {
      assert.equal(await status, 200);
      socket.destroy();
    }
    assert.equal(read.length, count);
    server.close();
  });
});
