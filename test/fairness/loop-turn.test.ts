import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { resources } from "../../shared/sharing/bounds.ts";
import { loopTurn, shortLoopTurn } from "../../shared/sharing/resources.ts";

/** Counts the turns of the event loop until all have begun. */
async function countTurns(all: Promise<unknown>[]): Promise<number> {
  let isOver = false;
  Promise.all(all).then(() => {
    isOver = true;
  });
  let turns = 0;
  while (!isOver) {
    await nextTurn();
    turns++;
  }
  return turns;
}

/** Counts the requests of a crowd that begin before one of another owner, and all that begin. */
async function beginBeside(count: number, turn: typeof shortLoopTurn) {
  const begun: string[] = [];
  const send = (owner: string) => turn(owner).then(() => begun.push(owner));
  const crowd = Array.from({ length: count }, () => send(`crowd of ${count}`));
  await nextTurn();
  await send(`beside ${count}`);
  const before = begun.indexOf(`beside ${count}`);
  await Promise.all(crowd);
  return { before, all: begun.length };
}

describe("requests of one owner that come at once", () => {
  // First: nobody else has been there.
  it("share slots if they are short, so that 120 begin in a few turns of the event loop", async () => {
    const requests = (begin: typeof shortLoopTurn) => Array.from({ length: 120 }, () => begin("alone"));
    const turns = await countTurns(requests(shortLoopTurn));
    const turnsOfOthers = await countTurns(requests(loopTurn));
    assert.ok(turns <= 5 && turnsOfOthers >= 15, `${turns} turns, and ${turnsOfOthers}`);
  });

  it("share no slot once they have taken a slice of the loop", async () => {
    const send = async () => {
      await shortLoopTurn("slow");
      const endsAt = performance.now() + resources.loop.sliceMs;
      while (performance.now() < endsAt);
    };
    const turns = await countTurns(Array.from({ length: 40 }, send));
    assert.ok(turns >= 40 / resources.loop.max, `${turns} turns`);
  });

  it("begin few at a time, so that others begin before the last", async () => {
    const { before, all } = await beginBeside(80, loopTurn);
    assert.equal(all, 81);
    assert.ok(before <= 24, `the other began after ${before}`);
  });

  it("begin after short ones of others, however many come", async () => {
    const { before, all } = await beginBeside(800, shortLoopTurn);
    assert.equal(all, 801);
    assert.ok(before <= 160, `the other began after ${before}`);
  });

  it("are refused alike when too many wait", async () => {
    const all = await Promise.allSettled(Array.from({ length: 40_000 }, () => shortLoopTurn("flood")));
    const refused = all.filter(({ status }) => status === "rejected");
    assert.ok(refused.length > 0 && refused.length < 10_000, String(refused.length));
    assert.match(String((refused[0] as PromiseRejectedResult).reason), /overloaded|busy|try again/i);
  });
});
