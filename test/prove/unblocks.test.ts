import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkDependencies } from "../../scripts/prove/ledger/dependencies.ts";
import { checkUnblocks, runsOfUnblocks } from "../../scripts/prove/ledger/unblocks.ts";
import type { Unblock } from "../../scripts/prove/traffic/observed.ts";
import { anUnblock, ledgerOf } from "./rows.ts";

const release = { id: "j1", buildId: "b1", type: "manual", label: "release", options: { key: "release" } };

describe("npm run prove, unblocked steps", () => {
  const kept = {
    answers: [{ buildId: "b1", key: "kind", value: "minor" }],
    unblockings: [{ buildId: "b1" }],
  };
  const check = (state: string, unblocks: Unblock[], rows: object = kept) =>
    checkUnblocks(unblocks, ledgerOf({ jobs: [{ ...release, state }], ...rows }))
      .map(({ title }) => title)
      .join("; ");

  it("match if one request unblocked each, and its answer is kept", () => {
    const late = anUnblock({ isDone: false, value: "major" });
    assert.equal(check("unblocked", [anUnblock(), late]), "");
    assert.equal(check("unblocked_failed", [anUnblock()]), "");
    assert.equal(check("unblocked", [anUnblock({ isDone: undefined }), late]), "", "the answer is lost");
    assert.equal(check("canceled", [late], {}), "");
  });

  it("do not match if two requests unblocked it, or none", () => {
    assert.match(check("unblocked", [anUnblock(), anUnblock()]), /was unblocked 2 times/);
    assert.match(check("unblocked", []), /was unblocked by nobody/);
    const twice = { ...kept, unblockings: [{ buildId: "b1" }, { buildId: "b1" }] };
    assert.match(check("unblocked", [anUnblock()], twice), /1 unblocked steps, and 2 audited/);
    assert.match(check("unblocked", [anUnblock()], { ...kept, unblockings: [] }), /and 0 audited/);
  });

  it("do not match if it waits for ever, or was answered and is not unblocked", () => {
    assert.match(check("blocked", [], {}), /waits for ever/);
    assert.match(check("blocked_failed", [anUnblock()], {}), /was unblocked, but is blocked_failed/);
    assert.match(check("canceled", [], { answers: kept.answers }), /has the answer minor, but is canceled/);
  });

  it("do not match with the answer of another request, or without one", () => {
    const lost = anUnblock({ isDone: false, value: "minor" });
    assert.match(
      check("unblocked", [anUnblock({ value: "major" }), lost]),
      /the answer minor, .* gave major/,
    );
    assert.match(check("unblocked", [anUnblock()], { ...kept, answers: [] }), /has the answer undefined/);
  });
});

describe("npm run prove, dependencies of unblocked steps", () => {
  const job = (id: string, state = "passed", more: object = {}) => ({
    ...{ id, buildId: "b1", state, retriedInJobId: null, retryOfJobId: null, agentId: null },
    options: { key: id },
    ...more,
  });
  const check = (jobs: object[], unblocks: Unblock[], runs: [string, number, number][]) => {
    const ofCommands = runs.map(([jobId, beganAt, endedAt]) => ({ jobId, beganAt, endedAt }));
    return checkDependencies(ledgerOf({ jobs }), [...ofCommands, ...runsOfUnblocks(unblocks)])
      .map(({ title }) => title)
      .join("; ");
  };
  const unblocked = job("release", "unblocked", { id: "j1" });
  const three = [job("before"), unblocked, job("released")];

  it("match if a step was unblocked after what it needs, and before what needs it", () => {
    const runs: [string, number, number][] = [
      ["before", 8, 9],
      ["released", 12, 13],
    ];
    assert.equal(check(three, [anUnblock()], runs), "");
    assert.equal(check(three, [anUnblock({ isDone: undefined, answeredAt: undefined })], runs), "");
  });

  it("do not match if a step was unblocked too early, or a command began before it was", () => {
    assert.match(check(three, [anUnblock()], [["before", 8, 12]]), /\(release\) began before before/);
    assert.match(check(three, [anUnblock()], [["released", 9, 13]]), /\(released\) began before release/);
    const blocked = [job("before"), job("release", "blocked"), job("released")];
    assert.match(check(blocked, [], [["released", 9, 13]]), /began, though release release blocked/);
  });

  it("do not match if a job stays behind an unblocked step, or failed without a reason", () => {
    assert.match(check([job("before"), unblocked, job("released", "blocked")], [], []), /waits for ever/);
    const failed = [job("before"), unblocked, job("deploys", "blocked_failed")];
    assert.match(check(failed, [], []), /\(deploys\) never began, though all was well/);
  });
});
