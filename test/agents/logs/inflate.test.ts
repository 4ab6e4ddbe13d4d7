import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { maxChunkBytes } from "../../../shared/agents/logs/codec.ts";
import { inflate } from "../../../shared/agents/logs/inflate.ts";
import type { Refusal } from "../../../shared/refusal.ts";

const isRefused = (status: number) => (error: Refusal) => error.status === status;

describe("the inflating of a chunk", () => {
  it("returns any bytes up to the limit, however well they compress", async () => {
    const noise = randomBytes(maxChunkBytes);

    for (const bytes of [Buffer.alloc(0), Buffer.alloc(maxChunkBytes), noise.subarray(0, 20_000), noise]) {
      const inflated = await inflate("acme", gzipSync(bytes));
      assert.equal(Buffer.compare(inflated, bytes), 0);
    }
  });

  it("refuses a byte more with 413, and what is damaged with 400", async () => {
    const noise = randomBytes(maxChunkBytes + 1);

    for (const bytes of [Buffer.alloc(maxChunkBytes + 1), noise])
      await assert.rejects(inflate("acme", gzipSync(bytes)), isRefused(413));
    for (const bytes of [Buffer.from("text"), noise.subarray(1)]) {
      const body = gzipSync(bytes);
      await assert.rejects(inflate("acme", body.subarray(0, -9)), isRefused(400));
      await assert.rejects(
        inflate("acme", Buffer.concat([body.subarray(0, -8), Buffer.alloc(8)])),
        isRefused(400),
      );
    }
  });

  it("believes no size that a body claims", async () => {
    const bytes = randomBytes(10_000).toString("hex");
    const body = gzipSync(bytes);
    const claims = (size: number) => {
      const claiming = Buffer.from(body);
      claiming.writeUInt32LE(size, body.length - 4);
      return claiming;
    };

    for (const size of [0, 1, 2 ** 32 - 1])
      await assert.rejects(inflate("acme", claims(size)), isRefused(400));
    const two = await inflate("acme", Buffer.concat([body, gzipSync("x")]));
    assert.equal(two.toString(), `${bytes}x`);
  });

  it("lets other organizations pass one that sends many", async () => {
    const done: string[] = [];
    const body = gzipSync("text");
    const send = async (organization: string) => {
      await inflate(organization, body);
      done.push(organization);
    };

    await Promise.all([...Array.from({ length: 100 }, () => send("busy")), send("other")]);

    assert.ok(done.indexOf("other") < 30, done.join());
  });
});
