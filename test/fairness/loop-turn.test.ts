import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { loopTurn } from "../../ingress/http/loop-turn.ts";
import { openLoopTurns } from "../../shared/sharing/loop-turns.ts";

describe("requests of one owner that come at once", () => {
  it("begin two at a time, so that others begin before the last", async () => {
    const begun: string[] = [];
    const send = (owner: string) => loopTurn(owner).then(() => begun.push(owner));

    const crowd = Array.from({ length: 40 }, () => send("crowd"));
    await nextTurn();
    await send("other");
    await Promise.all(crowd);

    assert.equal(begun.length, 41);
    assert.ok(begun.indexOf("other") <= 6, `the other began after ${begun.indexOf("other")}`);
  });

  it("stop waiting when they end, and leave their place to the next", async () => {
    const turn = openLoopTurns({ maxRunningPerOwner: 1 });
    const ended = new AbortController();
    const begun = [1, 2, 3].map((place) => turn("crowd", place === 2 ? ended.signal : undefined));

    ended.abort(new Error("the body failed"));

    await assert.rejects(begun[1] as Promise<void>, { message: "the body failed" });
    await Promise.all([begun[0], begun[2]]);
  });
});
