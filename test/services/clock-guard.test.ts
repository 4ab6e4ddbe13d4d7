import assert from "node:assert/strict";
import { before, it } from "node:test";
import { dayMs, hourMs, minuteMs } from "../../shared/durations.ts";
import {
  acceptClock,
  type ClockGuard,
  findClockDoubt,
  openClockGuard,
} from "../../shared/services/clock-guard.ts";
import { describeWorld } from "../helpers/databases.ts";
import { request } from "../helpers/http.ts";
import { startWorld } from "../helpers/world.ts";

describeWorld("a worker that deletes by age", startWorld, (world) => {
  let monotonicMs = 0;
  /** The servers' clocks are this far behind this machine's. */
  let behindMs = 0;

  before(() => world.clock.freeze());

  const open = (): ClockGuard => {
    const readClock = async () => new Date(world.clock.now().getTime() - behindMs);
    const { services } = world;
    const db = Object.assign(Object.create(services.db), { readClock });
    return openClockGuard({ ...services, db, readRedisClock: readClock }, () => monotonicMs);
  };
  const pass = (ms: number) => {
    monotonicMs += ms;
    world.clock.advance(ms);
  };

  it("trusts a clock that runs", async () => {
    const guard = open();
    const atFirst = await guard.isTrusted();
    pass(10 * minuteMs);

    assert.deepEqual([atFirst, await guard.isTrusted()], [true, true]);
    assert.equal(await findClockDoubt(world.services.db), undefined);
  });

  for (const [direction, jumpMs] of [
    ["ahead", 2 * minuteMs],
    ["back", -2 * minuteMs],
  ] as const)
    it(`doubts a clock that jumped ${direction}, for an hour`, async () => {
      const guard = open();
      await guard.isTrusted();

      world.clock.advance(jumpMs);
      const atOnce = await guard.isTrusted();
      const { status, body } = await request(`${world.url}/readyz`);
      pass(hourMs - minuteMs);
      const almost = await guard.isTrusted();
      pass(2 * minuteMs);

      assert.deepEqual([atOnce, almost, await guard.isTrusted()], [false, false, true]);
      assert.deepEqual([status, body.status, body.parts.clock], [200, "degraded", "doubted"]);
      assert.match(body.message, new RegExp(`jumped ${direction} by 120 s`));
    });

  it("calls a clock right after a jump that is over, and wrong while it differs", async () => {
    const guard = open();
    world.clock.advance(2 * minuteMs);
    const afterJump = [await guard.isTrusted(), await guard.isRight()];
    behindMs = 2 * minuteMs;
    const whileAhead = await guard.isRight();
    behindMs = 0;

    assert.deepEqual([...afterJump, whileAhead], [false, true, false]);
  });

  it("doubts a clock that was days ahead when it started, until an operator accepts it", async () => {
    await open().isTrusted();
    world.clock.advance(8 * dayMs);
    const guard = open();
    const atStart = await guard.isTrusted();

    await acceptClock(world.services);

    assert.deepEqual([atStart, await guard.isTrusted()], [false, true]);
  });

  it("doubts a clock that differs from the servers', however long", async () => {
    const guard = open();
    await guard.isTrusted();
    behindMs = 2 * minuteMs;
    const atFirst = await guard.isTrusted();
    await acceptClock(world.services);
    pass(2 * hourMs);
    const later = await guard.isTrusted();
    behindMs = 0;

    assert.deepEqual([atFirst, later, await guard.isTrusted()], [false, false, true]);
  });
});
