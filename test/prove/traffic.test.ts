import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkLateWrites, listOverAttempts } from "../../scripts/prove/ledger/stale.ts";
import { checkTraffic, isEnough, measureTraffic, type Traffic } from "../../scripts/prove/ledger/traffic.ts";
import { Timeline } from "../../scripts/prove/timeline.ts";
import { lateMark } from "../../scripts/prove/traffic/late-writes.ts";
import { type LateWrite, observeNothing } from "../../scripts/prove/traffic/observed.ts";
import { hashToken } from "../../shared/crypto/tokens.ts";
import { aChange, anAssignment, anUnblock, aPost, aSignIn, ledgerOf } from "./rows.ts";

const aWrite = (write: Partial<LateWrite> = {}): LateWrite => ({
  ...{ name: "start", jobId: "j1", isLast: false, status: 404, attempts: [] },
  ...write,
});

describe("npm run prove, late writes", () => {
  const check = (writes: Partial<LateWrite>[], rows: Parameters<typeof ledgerOf>[0] = {}) =>
    checkLateWrites(writes.map(aWrite), ledgerOf(rows))
      .map(({ title }) => title)
      .join("; ");

  it("match if they are refused and change nothing", () => {
    assert.equal(check([{}, { name: "chunk" }, { name: "meta-data", status: 401 }]), "");
    assert.equal(check([{ status: undefined }, { status: 503 }]), "", "the answer is unknown");
    assert.equal(check([{ name: "finish", status: 422 }]), "");
    assert.equal(check([{ name: "finish", isLast: true, status: 200 }]), "", "repeated");
  });

  it("do not match if one is accepted, or is stored", () => {
    assert.match(check([{ name: "chunk", status: 200 }]), /a stale chunk of job j1 is answered 200/);
    assert.match(check([{ name: "finish", status: 200 }]), /a stale finish of job j1 is answered 200/);
    assert.match(check([{ name: "finish" }]), /a stale finish of job j1 is answered 404/);
    const ended = { jobs: [{ id: "j1", exitStatus: lateMark.exitStatus }] };
    assert.match(check([{ status: undefined }], ended), /a stale finish ended job j1/);
    assert.match(check([], { lateRows: ["meta-data of build b1"] }), /is stored: meta-data of build b1/);
  });

  it("are sent at the end for attempts that are over, superseded ones first", () => {
    const jobTokens = [1, 2].map((attempt) => ({ attempt, tokenHash: hashToken(`token ${attempt}`) }));
    const runs = [2, 1, 9].map((attempt) => ({
      ...{ jobId: "j1", session: 1, agentPid: 1, isWhole: true, beganAt: 1, endedAt: 2 },
      token: `token ${attempt}`,
    }));

    assert.deepEqual(listOverAttempts(ledgerOf({ jobs: [{ id: "j1", attempt: 2 }], jobTokens }), runs), [
      { jobId: "j1", token: "token 1", isLast: false },
      { jobId: "j1", token: "token 2", isLast: true },
    ]);
  });
});

describe("npm run prove, traffic", () => {
  const enough: Traffic = {
    ...{ accepted: 60, doubled: 20, signedIn: 2, assigned: 10, pauses: 1 },
    ...{ superseded: 1, agentDeaths: 5, unblocked: 4, raced: 0 },
  };
  const check = (changed: Partial<Traffic>, minutes = 1) =>
    checkTraffic({ ...enough, ...changed }, minutes)
      .map(({ title }) => title)
      .join("; ");

  it("is enough by the minutes of a run and the deaths of agents", () => {
    assert.equal(check({}), "");
    assert.equal(
      check({ accepted: 30, doubled: 10, signedIn: 1, assigned: 5, pauses: 0, unblocked: 2 }, 0.5),
      "",
    );
    assert.equal(check({ superseded: 0, agentDeaths: 4 }), "");
  });

  it("lets a run end, or go on while it is too little", () => {
    assert.ok(isEnough({ ...enough, superseded: 0 }, 1));
    assert.ok(isEnough({ ...enough, assigned: 5, accepted: 30 }, 0.5));
    for (const name of ["accepted", "doubled", "signedIn", "assigned", "unblocked", "pauses"] as const)
      assert.ok(!isEnough({ ...enough, [name]: enough[name] - 1 }, 1), name);
  });

  for (const [changed, expected] of [
    [{ accepted: 59 }, /59 webhooks answered 201, and this run needs 60\. Inject fewer faults/],
    [{ doubled: 0 }, /0 keyed webhooks answered twice at once/],
    [{ signedIn: 1 }, /1 devices with a token/],
    [{ assigned: 9 }, /9 jobs assigned, and this run needs 10/],
    [{ unblocked: 3 }, /3 steps unblocked, and this run needs 4/],
    [{ pauses: 0 }, /0 pauses of a queue with waiting jobs/],
    [{ superseded: 0 }, /0 jobs with late writes after 5 deaths of agents/],
  ] as const)
    it(`is too little with ${Object.entries(changed).join()}`, () => {
      assert.match(check(changed), expected);
    });

  it("counts what was answered", () => {
    const timeline = new Timeline();
    timeline.end(timeline.begin("kill", "agent.1"));
    timeline.end(timeline.begin("kill", "worker.1"));
    const observed = {
      ...observeNothing(),
      posts: [aPost({ key: "k", ids: ["d1", "d1"] }), aPost({ ids: [] }), aPost({ key: "k" })],
      signIns: [aSignIn(), aSignIn({ tokens: [] })],
      assignments: [anAssignment([0, 1]), anAssignment([Number.POSITIVE_INFINITY, 0])],
      dispatchChanges: [
        aChange("pause", [1, 2]),
        aChange("resume", [3, 4]),
        { ...aChange("pause", [5, 6]), waitingJobs: 0 },
      ],
      unblocks: [anUnblock(), anUnblock({ isDone: false }), anUnblock({ jobId: "j2", isDone: undefined })],
      lateWrites: [aWrite(), aWrite({ jobId: "j2", isLast: true }), aWrite({ jobId: "j3", status: 503 })],
    };

    assert.deepEqual(measureTraffic(observed, timeline), {
      ...{ accepted: 2, doubled: 1, signedIn: 1, assigned: 1, pauses: 1 },
      ...{ superseded: 1, agentDeaths: 1, unblocked: 1, raced: 1 },
    });
  });
});
