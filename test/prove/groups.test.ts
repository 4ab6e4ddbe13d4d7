import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkGroupRuns, checkGroups } from "../../scripts/prove/ledger/groups.ts";
import { findCrowds, findGroupFaults, type SeenEntry } from "../../scripts/prove/traffic/groups.ts";
import { hashToken } from "../../shared/crypto/tokens.ts";
import { aRun, itFinds, ledgerOf } from "./rows.ts";

describe("npm run prove, concurrency groups", () => {
  const entry = (jobId: string, isHolding: boolean, more: Partial<SeenEntry> = {}): SeenEntry => {
    const place = { groupId: "group", isEager: false, limit: 1, position: 0 };
    return { jobId, buildId: jobId, isHolding, orderedAt: new Date(Number(jobId)), ...place, ...more };
  };
  const waiting = [entry("1", false), entry("2", false)];
  const both = [entry("1", true), entry("2", true)];

  it("match if those before a job have ended when it starts, or if it is eager", () => {
    assert.deepEqual(findGroupFaults([entry("1", true), ...waiting.slice(1)], [entry("2", true)]), []);
    const eager = [entry("1", false), entry("2", true, { isEager: true })];
    assert.deepEqual(findGroupFaults(waiting, eager), []);
  });

  it("are found over their limit, by entries and by the states of jobs alone", () => {
    assert.deepEqual(findGroupFaults(both, both), ["2 jobs hold a group of 1"]);
    const holder = { group: "gate", limit: 2 };
    assert.deepEqual(findCrowds([holder, holder]), []);
    assert.deepEqual(findCrowds([holder, holder, holder]), ["3 jobs of gate have started, and 2 may"]);
  });

  it("are found when a job starts before one that waits", () => {
    assert.equal(findGroupFaults(waiting, [entry("1", false), entry("2", true)]).length, 1);
  });

  it("leave entries and tasks that are found at the end", () => {
    const entries = [{ jobId: "j1", standing: "limited" }];
    const rows = ledgerOf({ entries, tasks: [{ kind: "group", subjectId: "g1" }] });
    const titles = checkGroups({ groupFaults: [] }, rows).map(({ title }) => title);
    assert.deepEqual(titles, ["job j1 has an entry for ever: limited", "group of g1 was never done"]);
  });
});

describe("npm run prove, commands of concurrency groups", () => {
  type Moments = [number: number, beganAt: number, endedAt: number];
  const gate = { concurrency_group: "gate", concurrency: 2 };
  /** A build for each number, with a job at its end. */
  const check = (runs: Moments[], options: object = gate, state = "passed") => {
    const numbers = runs.map(([number]) => number);
    const rows = {
      builds: numbers.map((number) => ({ id: `b${number}`, number, createdAt: new Date(number) })),
      jobs: numbers.map((number) => {
        return { id: `j${number}`, buildId: `b${number}`, position: 0, state, attempt: 1, options };
      }),
      jobTokens: numbers.map((number) => ({ tokenHash: hashToken(`t${number}`), attempt: 1 })),
    };
    const marks = runs.map(([number, began, ended]) => aRun(`j${number}`, began, ended, `t${number}`));
    return checkGroupRuns(ledgerOf(rows), marks);
  };
  const first: Moments = [1, 10, 12];
  const inOrder: Moments[] = [first, [2, 11, 13], [3, 12, 14]];
  const crowd: Moments[] = [...inOrder, [4, 12, 13]];
  const overtaken: Moments[] = [
    [1, 20, 21],
    [2, 21, 22],
    [3, 10, 12],
  ];

  itFinds(check, {
    "commands within the limit, in the order of their builds": [undefined, inOrder],
    "commands whose agents may be lost": [undefined, crowd, gate, "canceled"],
    "too many at once": [/3 commands of gate ran at once, as that of job j/, crowd],
    "two of an eager group": [/2 commands of eager/, inOrder, { concurrency_group: "eager", concurrency: 1 }],
    "one that overtook so many of a gate as its limit": [
      /job j3 has overtaken 2 jobs of a gate of 2/,
      overtaken,
    ],
  });
});
