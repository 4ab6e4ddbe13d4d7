import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "../../shared/refusal.ts";
import { resources } from "../../shared/sharing/bounds.ts";
import { writes } from "../../shared/sharing/resources.ts";

describe("new builds, rebuilds and retries of one organization", () => {
  it("are stored one at a time beside those of another", async () => {
    const stored: string[] = [];
    let running = 0;
    const storeLarge = async () => {
      running++;
      await nextTurn();
      assert.ok(running < resources.writes.max);
      running--;
      stored.push("large");
    };

    const attack = Array.from({ length: 20 }, () => writes.take("attacker", storeLarge));
    await writes.take("victim", async () => stored.push("small"));
    await Promise.all(attack);

    assert.equal(stored.length, 21);
    assert.ok(stored.indexOf("small") < resources.writes.max, stored.join(" "));
  });

  it("are 503 while too many wait, and another's are not", async () => {
    await sleep(60); // those of the first test are gone
    const gate = Promise.withResolvers<void>();
    const count = resources.writes.max - 1 + resources.writes.maxWaitingOfOwner;
    const waiting = Array.from({ length: count }, () => writes.take("crowd", () => gate.promise));

    const refused = await writes.take("crowd", async () => undefined).catch((error) => error);
    const other = await writes.take("other", async () => "stored");

    assert.ok(refused instanceof Refusal);
    assert.equal(refused.status, 503);
    assert.equal(other, "stored");
    gate.resolve();
    await Promise.all(waiting);
  });
});
