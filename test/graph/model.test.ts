import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { describe, it } from "node:test";
import { decideProgress, findCircle, type Progress } from "../../shared/graph/progress.ts";
import { isUnsatisfied, modelProgress } from "./model.ts";
import { randomBuild, randomNumbers } from "./random-builds.ts";

const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
const builds = Number(process.env.TEST_BUILDS ?? 10_000);

function sorted({ waitsForPeople, ...sets }: Progress) {
  const lists = Object.entries(sets).map(([name, ids]: [string, Set<string>]) => [name, [...ids].sort()]);
  return { waitsForPeople, ...Object.fromEntries(lists) };
}

describe("progress", () => {
  it(`decides ${builds} random builds as its slow model does`, (context) => {
    context.diagnostic(`TEST_SEED=${seed}`);
    let decisions = 0;
    for (let index = 0; index < builds; index++) {
      const { tree, jobs } = randomBuild(randomNumbers(seed + index));
      if (findCircle(tree)) continue;
      const progress = decideProgress(tree, jobs);
      decisions += Object.values(progress).reduce((sum, ids) => sum + (ids instanceof Set ? ids.size : 0), 0);
      const about = `TEST_SEED=${seed + index} TEST_BUILDS=1\n${JSON.stringify({ tree, jobs }, null, 1)}`;
      assert.deepEqual(sorted(progress), sorted(modelProgress(tree, jobs)), about);
      assert.deepEqual(decideProgress(tree, jobs.filter(isUnsatisfied)), progress, about);
    }
    assert.ok(decisions > builds, `only ${decisions} decisions`);
  });
});
