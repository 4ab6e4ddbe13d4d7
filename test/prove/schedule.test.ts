import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { faultOf } from "../../scripts/prove/faults/fault.ts";
import { startFaults } from "../../scripts/prove/faults/schedule.ts";
import { randomNumbers } from "../../scripts/prove/random.ts";
import { Timeline } from "../../scripts/prove/timeline.ts";
import { eventually } from "../helpers/http.ts";

/** Injects some faults of two kinds, one of which lasts. */
async function injectSome(seed: number) {
  const timeline = new Timeline();
  const undone: string[] = [];
  const brief = faultOf<object>("brief", 3, "", async (_, random) => ({ target: String(random(1000)) }));
  const lasting = faultOf<object>("lasting", 1, "", async (_, random) => {
    const target = String(random(1000));
    return { target, lasting: { ms: 60_000, undo: () => void undone.push(target) } };
  });
  const options = { installation: {}, faults: [brief, lasting], perSecond: 1000, timeline };
  const schedule = startFaults({ ...options, random: randomNumbers(seed) });
  await eventually("20 faults", async () => timeline.faults.length >= 20);
  await schedule.stop();
  return { faults: timeline.faults, undone };
}

describe("npm run prove, the schedule of faults", () => {
  it("is the same for the same seed, and has every kind by its weight", async () => {
    const [first, second, other] = [await injectSome(1), await injectSome(1), await injectSome(2)];
    const begin = ({ faults }: typeof first) => faults.slice(0, 20).map(({ kind, target }) => [kind, target]);

    assert.deepEqual(begin(first), begin(second));
    assert.notDeepEqual(begin(first), begin(other));
    assert.equal(begin(first).filter(([kind]) => kind === "lasting").length, 5);
  });

  it("undoes what lasts when it stops", async () => {
    const { faults, undone } = await injectSome(3);
    const lasting = faults.filter(({ kind }) => kind === "lasting");

    const targets = lasting.map(({ target }) => target);
    assert.deepEqual(undone, targets);
    assert.ok(faults.every(({ untilMs }) => untilMs !== undefined));
  });
});
