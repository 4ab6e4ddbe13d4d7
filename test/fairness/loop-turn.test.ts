import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { loopTurn } from "../../shared/sharing/resources.ts";

describe("requests of one owner that come at once", () => {
  it("begin few at a time, so that others begin before the last", async () => {
    const begun: string[] = [];
    const send = (owner: string) => loopTurn(owner).then(() => begun.push(owner));

    const crowd = Array.from({ length: 80 }, () => send("crowd"));
    await nextTurn();
    await send("other");
    const before = begun.indexOf("other");
    await Promise.all(crowd);

    assert.equal(begun.length, 81);
    assert.ok(before <= 24, `the other began after ${before}`);
  });
});
