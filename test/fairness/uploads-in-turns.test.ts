import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import type { H3Event } from "h3";
import { openBodies } from "../../ingress/http/body.ts";
import { Refusal } from "../../shared/refusal.ts";

const megabyte = 1024 * 1024;
const chunk = Buffer.alloc(64 * 1024, "signalbox");

describe("20 bodies of 1 MB of one network, which have all arrived", () => {
  it("are read in small parts, so that others come in between", async () => {
    const limits = { maxBodyBytesInFlight: 256 * megabyte, minUploadBytesPerSecond: 0 };
    const bodies = openBodies(limits).deliveries;
    let inThisTurn = 0;
    let mostInATurn = 0;
    const countRead = () => {
      if (inThisTurn === 0)
        setImmediate(() => {
          inThisTurn = 0;
        });
      inThisTurn += chunk.length;
      mostInATurn = Math.max(mostInATurn, inThisTurn);
    };
    const read = async () => {
      let left = megabyte;
      const request = new Readable({
        read() {
          left -= chunk.length;
          this.push(left < 0 ? null : chunk);
        },
      });
      const req = Object.assign(request, { headers: { "content-length": String(megabyte) } });
      req.on("data", countRead);
      const event = {
        context: { clientIp: "127.0.0.1" },
        runtime: { node: { req, res: {} } },
      } as unknown as H3Event;
      return await bodies.read(event, 2 * megabyte, () => new Refusal(413, ""));
    };

    const all = await Promise.all(Array.from({ length: 20 }, read));

    for (const { bytes } of all) assert.ok(bytes.equals(Buffer.alloc(megabyte, chunk)));
    assert.ok(mostInATurn < 4 * megabyte, `${mostInATurn} bytes in one turn of the event loop`);
  });
});
