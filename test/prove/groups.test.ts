import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Run } from "../../scripts/prove/installation/marks.ts";
import { checkGroupRuns, checkGroups } from "../../scripts/prove/ledger/groups.ts";
import { findCrowds, findGroupFaults, type SeenMember } from "../../scripts/prove/traffic/groups.ts";
import { hashToken } from "../../shared/crypto/tokens.ts";
import { ledgerOf } from "./rows.ts";

describe("npm run prove, concurrency groups", () => {
  const member = (jobId: string, isHolding: boolean, more: Partial<SeenMember> = {}): SeenMember => ({
    ...{ jobId, buildId: jobId, isHolding, groupId: "group", isEager: false, limit: 1, position: 0 },
    orderedAt: new Date(Number(jobId)),
    ...more,
  });

  it("match if those before a job have ended when it starts", () => {
    const before = [member("1", true), member("2", false), member("3", false)];
    assert.deepEqual(findGroupFaults(before, [member("2", true), member("3", false)]), []);
    assert.deepEqual(findGroupFaults([], [member("1", false), member("2", true)]), []);
  });

  it("are found over their limit", () => {
    const now = [member("1", true), member("2", true)];
    assert.deepEqual(findGroupFaults(now, now), ["2 jobs hold a group of 1"]);
    assert.deepEqual(findGroupFaults(now, [member("1", true), member("2", true, { groupId: "other" })]), []);
  });

  it("are found when a job starts before one that waits, unless it is eager", () => {
    const before = [member("1", false), member("2", false)];
    assert.equal(findGroupFaults(before, [member("1", false), member("2", true)]).length, 1);
    assert.deepEqual(findGroupFaults(before, [member("1", false), member("2", true, { isEager: true })]), []);
    assert.deepEqual(findGroupFaults(before, [member("1", false), member("2", true, { limit: 2 })]), []);
  });
});

describe("npm run prove, commands of concurrency groups", () => {
  const gate = { concurrency_group: "gate", concurrency: 2 };
  const eager = { concurrency_group: "eager", concurrency: 1 };
  /** A build for each number, with a job at its end. */
  const check = (runs: [number, number, number][], options: object = gate, more: object = {}) => {
    const numbers = runs.map(([number]) => number);
    const builds = numbers.map((number) => ({ id: `b${number}`, number, createdAt: new Date(number) }));
    const jobs = numbers.map((number) => ({
      ...{ id: `j${number}`, buildId: `b${number}`, position: 0, state: "passed", attempt: 1, options },
      ...more,
    }));
    const jobTokens = numbers.map((number) => ({ tokenHash: hashToken(`t${number}`), attempt: 1 }));
    const marks = runs.map(
      ([number, beganAt, endedAt]): Run => ({
        ...{ jobId: `j${number}`, session: 1, agentPid: 1, token: `t${number}`, isWhole: true },
        ...{ beganAt, endedAt },
      }),
    );
    return checkGroupRuns(ledgerOf({ builds, jobs, jobTokens }), marks)
      .map(({ title }) => title)
      .join("; ");
  };

  it("match if they ran within the limit, in the order of their builds", () => {
    const inOrder: [number, number, number][] = [
      [1, 10, 12],
      [2, 11, 13],
      [3, 12, 14],
    ];
    assert.equal(check(inOrder), "");
    assert.equal(check([...inOrder, [4, 12, 13]], { ...gate, concurrency: 9 }), "");
    assert.equal(check([...inOrder, [4, 12, 13]], gate, { state: "canceled" }), "", "its agent may be lost");
  });

  it("are found if too many ran at once", () => {
    const crowd = check([
      [1, 10, 12],
      [2, 10, 12],
      [3, 11, 13],
    ]);
    assert.match(crowd, /3 commands of gate ran at once, as that of job j3 began/);
    assert.match(
      check(
        [
          [1, 10, 12],
          [2, 11, 13],
        ],
        eager,
      ),
      /2 commands of eager/,
    );
  });

  it("are found if they overtook so many of a gate as its limit", () => {
    const overtaken = check([
      [1, 20, 21],
      [2, 21, 22],
      [3, 10, 12],
    ]);
    assert.match(overtaken, /job j3 has overtaken 2 jobs of a gate of 2/);
  });

  it("are found by the states of their jobs alone, over their limit", () => {
    const holder = { group: "gate", limit: 2 };
    assert.deepEqual(findCrowds([holder, holder, { group: "eager", limit: 1 }]), []);
    assert.deepEqual(findCrowds([holder, holder, holder]), ["3 jobs of gate have started, and 2 may"]);
  });

  it("leave members and tasks that are found at the end", () => {
    const rows = ledgerOf({
      members: [{ jobId: "j1", standing: "limited" }],
      tasks: [{ kind: "group", subjectId: "g1" }],
    });
    assert.deepEqual(
      checkGroups({ groupFaults: [] }, rows).map(({ title }) => title),
      ["job j1 is a member for ever: limited", "group of g1 was never done"],
    );
  });
});
