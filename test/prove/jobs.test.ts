import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Run } from "../../scripts/prove/installation/marks.ts";
import { checkJobs } from "../../scripts/prove/ledger/jobs.ts";
import { hashToken } from "../../shared/crypto/tokens.ts";
import { ledgerOf } from "./rows.ts";

const job = {
  ...{ id: "j9", buildId: "b1", type: "script", label: "last", state: "passed", agentId: "a1", attempt: 2 },
  ...{ retriesCount: 0, exitStatus: 0, failureReason: null },
};
const tokens = [1, 2].map((attempt) => ({ jobId: "j9", attempt, tokenHash: hashToken(`token ${attempt}`) }));
const runOf = (attempt: number, run: Partial<Run> = {}): Run => ({
  ...{
    jobId: "j9",
    session: 1,
    agentPid: 1,
    token: `token ${attempt}`,
    isWhole: true,
    beganAt: 1,
    endedAt: 2,
  },
  ...run,
});
const log = "j9 line 1\nj9 line 2\nthe end\n";

const check = (changed: object = {}, runs = [runOf(2)], logs = new Map([["j9 2", log]]), rows: object = {}) =>
  checkJobs(
    ledgerOf({
      jobs: [{ ...job, ...changed }],
      builds: [{ id: "b1", state: "passed", deliveryId: null }],
      ...{ jobTokens: tokens, logs, ...rows },
    }),
    runs,
  )
    .map(({ title }) => title)
    .join("; ");

describe("npm run prove, jobs", () => {
  it("match if the last attempt ran to its end, and its log is whole", () => {
    assert.equal(check(), "");
    assert.equal(check({}, [runOf(1, { isWhole: false }), runOf(2)]), "", "a lost attempt");
  });

  it("do not match without an end, or with a gap or too many attempts", () => {
    assert.match(check({ state: "assigned" }), /has not ended: assigned/);
    assert.match(
      check({}, [runOf(2)], undefined, { jobTokens: tokens.slice(1) }),
      /2 attempts, but tokens of 2/,
    );
    assert.match(check({ attempt: 5 }), /was begun 5 times/);
    assert.match(check({ state: "failed", failureReason: "The agent was lost 2 times" }), /given up after 2/);
    assert.match(
      check({}, undefined, undefined, { agents: [{ id: "a2", jobId: "j9" }] }),
      /of another agent/,
    );
  });

  it("do not match without a run, with two of an attempt, or with a lost part of the log", () => {
    assert.match(check({}, []), /no command ran/);
    assert.match(check({}, [runOf(2), runOf(2)]), /ran twice in one attempt/);
    assert.match(check({}, [runOf(2, { isWhole: false })]), /did not come to its end/);
    assert.match(check({}, [runOf(3)]), /ran with a token that is not stored/);
    assert.match(check({}, [runOf(2)], new Map([["j9 2", "j9 line 1\nthe end\n"]])), /its log is not whole/);
  });

  it("do not match if a failure was not retried by its rule", () => {
    const failed = { state: "failed", exitStatus: 3, label: "flaky", id: "j1", attempt: 0 };
    assert.match(check(failed, []), /was not retried/);
    assert.equal(check({ ...failed, retriedInJobId: "j2" }, []), "");
  });
});
