import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { PasswordSlots } from "../../shared/crypto/password-slots.ts";
import { resources } from "../../shared/sharing/bounds.ts";

class NoSlot extends Error {}

const callerOf = (index: number) => ({
  network: `10.${index >> 8}.${index & 255}.1`,
  wideNetwork: `10.${index >> 8}.${index & 255}.0/24`,
});
const victim = { network: "192.0.2.1", wideNetwork: "192.0.2.0/24" };

describe("slots for passwords", () => {
  let slots: PasswordSlots;
  let works: (() => void)[];
  const open = () => {
    works = [];
    // Rests are timers, and these tests count turns of the event loop.
    slots = new PasswordSlots((full) => new NoSlot(full), { ...resources.passwords, restFactor: 0 });
  };
  /** Runs until `endOne`. */
  const work = () => new Promise<void>((resolve) => void works.push(resolve));
  const endOne = async () => {
    works.shift()?.();
    await nextTurn();
  };
  const outcomeOf = (run: Promise<unknown>) =>
    run.then(
      () => "checked",
      (error) => (error instanceof NoSlot ? `refused: ${error.message}` : Promise.reject(error)),
    );
  const refused = "refused: all";

  afterEach(async () => {
    for (let left = 100; left > 0 && works.length > 0; left--) await endOne();
  });

  it("go from the newest of the wide network that holds most to one that holds fewer", async () => {
    open();
    const networks = Array.from({ length: 24 }, (_, at) => (at < 3 ? 0 : 1 + (at % 10)));
    const outcomes = networks.map((index) => outcomeOf(slots.run(callerOf(index), work)));

    const newcomer = outcomeOf(slots.run(victim, work));
    const lost = await Promise.race(outcomes.map(async (outcome, at) => ({ at, outcome: await outcome })));

    assert.deepEqual(lost, { at: 23, outcome: refused });
    while (works.length > 0) await endOne();
    assert.equal(await newcomer, "checked");
  });

  it("are refused on a tie, unless the other's network guessed wrong", async () => {
    open();
    const outcomes = Array.from({ length: 24 }, (_, index) => outcomeOf(slots.run(callerOf(index), work)));

    assert.equal(await outcomeOf(slots.run(victim, work)), refused);

    slots.countWrong(callerOf(7));
    const newcomer = outcomeOf(slots.run(victim, work));
    assert.equal(await outcomes[7], refused);
    assert.equal(await outcomeOf(slots.run(callerOf(99), work)), refused);
    for (let left = 24; left > 0; left--) await endOne();
    assert.equal(await newcomer, "checked");
  });

  it("are kept for four users, one each", async () => {
    open();
    void Promise.all(Array.from({ length: 24 }, (_, at) => outcomeOf(slots.run(callerOf(at), work))));
    const known = ["ada", "bob", "cyd", "dee", "eve", "ada"].map((knownUserId) =>
      outcomeOf(slots.run({ ...victim, knownUserId }, work)),
    );

    assert.deepEqual(await Promise.all(known.slice(4)), [refused, refused]);
    while (works.length > 0) await endOne();
    assert.deepEqual(await Promise.all(known.slice(0, 4)), ["checked", "checked", "checked", "checked"]);
  });
});
