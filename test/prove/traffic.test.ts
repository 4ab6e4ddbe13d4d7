import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkLateWrites, listOverAttempts } from "../../scripts/prove/ledger/stale.ts";
import { checkTraffic, isEnough, measureTraffic, type Traffic } from "../../scripts/prove/ledger/traffic.ts";
import { Timeline } from "../../scripts/prove/timeline.ts";
import { lateMark } from "../../scripts/prove/traffic/late-writes.ts";
import { type LateWrite, observeNothing } from "../../scripts/prove/traffic/observed.ts";
import { hashToken } from "../../shared/crypto/tokens.ts";
import {
  aChange,
  anAssignment,
  anUnblock,
  aPost,
  aRun,
  aSignIn,
  itFinds,
  ledgerOf,
  type Rows,
} from "./rows.ts";

const aWrite = (write: Partial<LateWrite> = {}): LateWrite => {
  return { name: "start", jobId: "j1", isLast: false, status: 404, attempts: [], ...write };
};

describe("npm run prove, late writes", () => {
  const check = (write: Partial<LateWrite>, rows: Rows = {}) =>
    checkLateWrites([aWrite(write)], ledgerOf(rows));
  const ended = { jobs: [{ id: "j1", exitStatus: lateMark.exitStatus }] };

  itFinds(check, {
    "a refusal": [undefined, {}],
    "a refusal of meta-data": [undefined, { name: "meta-data", status: 401 }],
    "an answer that is unknown": [undefined, { status: 503 }],
    "a finish of the last attempt": [undefined, { name: "finish", isLast: true, status: 200 }],
    "an accepted one": [/a stale chunk of job j1 is answered 200/, { name: "chunk", status: 200 }],
    "an accepted finish": [/a stale finish of job j1 is answered 200/, { name: "finish", status: 200 }],
    "a finish that ended its job": [/a stale finish ended job j1/, { status: undefined }, ended],
    "one that is stored": [/is stored: meta-data of build b1/, {}, { lateRows: ["meta-data of build b1"] }],
  });

  it("are sent at the end for attempts that are over, superseded ones first", () => {
    const jobTokens = [1, 2].map((attempt) => ({ attempt, tokenHash: hashToken(`token ${attempt}`) }));
    const runs = [2, 1, 9].map((attempt) => aRun("j1", 1, 2, `token ${attempt}`));

    assert.deepEqual(listOverAttempts(ledgerOf({ jobs: [{ id: "j1", attempt: 2 }], jobTokens }), runs), [
      { jobId: "j1", token: "token 1", isLast: false },
      { jobId: "j1", token: "token 2", isLast: true },
    ]);
  });
});

describe("npm run prove, traffic", () => {
  const enough: Traffic = {
    accepted: 60,
    pushed: 10,
    doubled: 20,
    signedIn: 2,
    assigned: 10,
    unblocked: 4,
    raced: 0,
    pauses: 1,
    superseded: 1,
    agentDeaths: 5,
  };
  const check = (changed: Partial<Traffic>) => checkTraffic({ ...enough, ...changed }, 1);

  itFinds(check, {
    "enough for its minutes and the deaths of agents": [undefined, {}],
    "fewer deaths": [undefined, { superseded: 0, agentDeaths: 4 }],
    "too few webhooks": [/59 webhooks answered 201, and this run needs 60\. Inject/, { accepted: 59 }],
    "too few pushes": [/9 pushes of source hosts answered 201/, { pushed: 9 }],
    "too few keys": [/0 keyed webhooks answered twice at once/, { doubled: 0 }],
    "too few devices": [/1 devices with a token/, { signedIn: 1 }],
    "too few jobs": [/9 jobs assigned, and this run needs 10/, { assigned: 9 }],
    "too few steps": [/3 steps unblocked, and this run needs 4/, { unblocked: 3 }],
    "no pause": [/0 pauses of a queue with waiting jobs/, { pauses: 0 }],
    "no late write": [/0 jobs with late writes after 5 deaths of agents/, { superseded: 0 }],
  });

  it("lets a run go on while it is too little", () => {
    assert.ok(isEnough({ ...enough, superseded: 0 }, 1));
    for (const name of ["accepted", "doubled", "signedIn", "assigned", "unblocked", "pauses"] as const)
      assert.ok(!isEnough({ ...enough, [name]: enough[name] - 1 }, 1), name);
  });

  it("counts what was answered", () => {
    const timeline = new Timeline();
    for (const target of ["agent.1", "worker.1"]) timeline.end(timeline.begin("kill", target));
    const pauses = [aChange("pause", [1, 2]), aChange("resume", [3, 4])];
    const observed = {
      ...observeNothing(),
      posts: [
        aPost({ key: "k", ids: ["d1", "d1"] }),
        aPost({ ids: [] }),
        aPost({ key: "k", trigger: "push of github" }),
      ],
      signIns: [aSignIn(), aSignIn({ tokens: [] })],
      assignments: [anAssignment(0, 1), anAssignment(Number.POSITIVE_INFINITY, 0)],
      dispatchChanges: [...pauses, { ...aChange("pause", [5, 6]), waitingJobs: 0 }],
      unblocks: [anUnblock(), anUnblock({ isDone: false }), anUnblock({ jobId: "j2", isDone: undefined })],
      lateWrites: [aWrite(), aWrite({ jobId: "j2", isLast: true }), aWrite({ jobId: "j3", status: 503 })],
    };

    const ones = { pushed: 1, doubled: 1, signedIn: 1, assigned: 1, unblocked: 1, raced: 1, pauses: 1 };
    assert.deepEqual(measureTraffic(observed, timeline), {
      ...ones,
      accepted: 2,
      superseded: 1,
      agentDeaths: 1,
    });
  });
});
