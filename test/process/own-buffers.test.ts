import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { freeBuffers } from "../../shared/process/own-buffers.ts";

describe("buffers that are freed", () => {
  it("leave the process at once", () => {
    const bytes = 64 * 1024 * 1024;
    const { arrayBuffers } = process.memoryUsage();
    const large = Buffer.alloc(bytes);

    freeBuffers([large]);

    assert.equal(large.length, 0);
    assert.ok(process.memoryUsage().arrayBuffers - arrayBuffers < bytes / 2);
  });

  it("keep the memory that they share with others", () => {
    const whole = Buffer.from("abcdef".repeat(1000));
    const pooled = Buffer.from("pooled");

    freeBuffers([whole.subarray(0, 3), pooled]);

    assert.equal(whole.toString("utf8", 0, 6), "abcdef");
    assert.equal(pooled.toString(), "pooled");
  });

  it("may be empty, or have been freed", () => {
    const freed = Buffer.alloc(10_000);
    for (let times = 0; times < 2; times++) freeBuffers([freed, Buffer.alloc(0)]);
    assert.equal(freed.length, 0);
  });
});
