import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { storeInTurn } from "../../shared/builds/store-in-turn.ts";
import { Refusal } from "../../shared/refusal.ts";

describe("new builds, rebuilds and retries of one organization", () => {
  it("are stored one at a time, while those of another are stored too", async () => {
    const stored: string[] = [];
    let running = 0;
    const storeLarge = async () => {
      running++;
      assert.equal(running, 1);
      await nextTurn();
      running--;
      stored.push("large");
    };

    const attack = Array.from({ length: 10 }, () => storeInTurn("attacker", storeLarge));
    await storeInTurn("victim", async () => stored.push("small"));
    await Promise.all(attack);

    assert.equal(stored.length, 11);
    assert.ok(stored.indexOf("small") < 2, stored.join(" "));
  });

  it("are 503 while 50 wait, and another's are not", async () => {
    const gate = Promise.withResolvers<void>();
    const waiting = Array.from({ length: 51 }, () => storeInTurn("crowd", () => gate.promise));

    const refused = await storeInTurn("crowd", async () => undefined).catch((error) => error);
    const other = await storeInTurn("other", async () => "stored");

    assert.ok(refused instanceof Refusal);
    assert.equal(refused.status, 503);
    assert.equal(other, "stored");
    gate.resolve();
    await Promise.all(waiting);
  });
});
