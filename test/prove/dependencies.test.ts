import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Run } from "../../scripts/prove/installation/marks.ts";
import { checkBuilds } from "../../scripts/prove/ledger/builds.ts";
import { checkDependencies } from "../../scripts/prove/ledger/dependencies.ts";
import { ledgerOf } from "./rows.ts";

const jobOf = (role: string, more: object = {}) => ({
  ...{ id: role, buildId: "b1", state: "passed", retriedInJobId: null, retryOfJobId: null, agentId: "a1" },
  options: { env: { PROVE_ROLE: role, ...(role.startsWith("uploaded") ? { PROVE_LIST: "one" } : {}) } },
  ...more,
});
const runOf = (jobId: string, beganAt: number, endedAt?: number): Run => ({
  ...{ jobId, session: 1, agentPid: 1, token: "", isWhole: endedAt !== undefined, beganAt, endedAt },
});

const check = (jobs: object[], runs: Run[] = [], metaData = ["size=large"]) =>
  checkDependencies(ledgerOf({ jobs, agents: [{ id: "a1", metaData }] }), runs)
    .map(({ title }) => title)
    .join("; ");

describe("npm run prove, dependencies", () => {
  it("match if commands began after those that they need had ended", () => {
    const jobs = ["upload", "uploaded", "uploaded late", "deploy"].map((role) => jobOf(role));
    const runs = [
      runOf("upload", 1, 2),
      runOf("uploaded", 2, 3),
      runOf("uploaded late", 3, 4),
      runOf("deploy", 5, 6),
    ];
    assert.equal(check(jobs, runs), "");
    assert.equal(
      check([jobOf("flaky", { state: "failed" }), jobOf("after failure")], [runOf("after failure", 1, 2)]),
      "",
    );
    const retried = [
      jobOf("flaky", { id: "f1", state: "failed", retriedInJobId: "f2" }),
      jobOf("flaky", { id: "f2" }),
    ];
    assert.equal(check([...retried, jobOf("deploy")], [runOf("deploy", 1, 2)]), "");
    assert.equal(
      check([jobOf("flaky", { state: "failed" }), jobOf("deploy", { state: "waiting_failed" })]),
      "",
    );
  });

  it("do not match if a command began too early, or beside one that failed", () => {
    const pair = [jobOf("uploaded"), jobOf("deploy")];
    assert.match(check(pair, [runOf("uploaded", 1, 3), runOf("deploy", 2, 4)]), /began before uploaded/);
    assert.match(check(pair, [runOf("deploy", 2, 4), runOf("uploaded", 3)]), /began before uploaded/);
    const failed = [jobOf("flaky", { state: "failed" }), jobOf("deploy")];
    assert.match(check(failed, [runOf("deploy", 1, 2)]), /began, though flaky flaky failed/);
  });

  it("do not match if a job waits for ever, never began without a reason, or was not left out", () => {
    assert.match(check([jobOf("deploy", { state: "waiting" })]), /waits for ever/);
    assert.match(check([jobOf("matrix"), jobOf("deploy", { state: "waiting_failed" })]), /never began/);
    assert.match(check([jobOf("left out")]), /was not left out/);
  });

  it("do not match if a job was of an agent without its tag", () => {
    assert.equal(check([jobOf("tagged")]), "");
    assert.match(check([jobOf("tagged")], [], ["queue=linux"]), /without its tag/);
  });

  it("do not match if half of an uploaded list is there", () => {
    const wait = jobOf("", { id: "wait", options: { key: "wait of one" } });
    const check = (...jobs: object[]) => checkBuilds(ledgerOf({ jobs })).map(({ title }) => title);
    assert.deepEqual(check(jobOf("uploaded"), wait, jobOf("uploaded late")), []);
    assert.match(check(jobOf("uploaded"), wait).join(), /has 2 jobs/);
  });
});
