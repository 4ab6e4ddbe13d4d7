import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkTriggers } from "../../scripts/prove/ledger/triggers.ts";
import type { JobState } from "../../shared/vocabulary.ts";
import { ledgerOf } from "./rows.ts";

describe("npm run prove, trigger steps", () => {
  const check = (state: JobState, builds: object[], options: object = {}, parent: object = {}) => {
    const jobs = [{ id: "j1", buildId: "p1", type: "trigger", state, options }];
    const made = builds.map((build, index) => ({ id: `b${index}`, triggeredByJobId: "j1", ...build }));
    const own = { id: "p1", triggeredByJobId: null, state: "passed", ...parent };
    const rows = ledgerOf({ jobs, builds: [own, ...made] } as Parameters<typeof ledgerOf>[0]);
    return checkTriggers(rows)
      .map(({ title }) => title)
      .join("; ");
  };

  it("match if each made one build and ended as it did", () => {
    assert.equal(check("passed", [{ state: "passed" }]), "");
    assert.equal(check("failed", [{ state: "failed" }]), "");
    assert.equal(check("canceled", [{ state: "passed" }]), "");
    assert.equal(check("canceled", []), "");
    assert.equal(check("passed", [{ state: "failed" }], {}, { state: "canceled" }), "", "follows no more");
    assert.equal(check("passed", [{ state: "failed" }], { trigger: { trigger: "x", async: true } }), "");
  });

  it("are found without a build, with two, with another end, and builds without a step", () => {
    assert.match(check("passed", []), /made no build/);
    assert.match(check("passed", [{ state: "passed" }, { state: "passed" }]), /made 2 builds/);
    assert.match(check("passed", [{ state: "failed" }]), /made a build that failed/);
    assert.match(check("failed", [{ state: "running" }]), /ended before its build/);
    assert.match(check("passed", [{ state: "passed" }, { triggeredByJobId: "j9" }]), /of no trigger step/);
  });
});
