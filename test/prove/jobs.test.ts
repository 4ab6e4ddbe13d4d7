import { describe } from "node:test";
import { checkDependencies } from "../../scripts/prove/ledger/dependencies.ts";
import { checkJobs } from "../../scripts/prove/ledger/jobs.ts";
import { checkTriggers } from "../../scripts/prove/ledger/triggers.ts";
import { checkUnblocks, runsOfUnblocks } from "../../scripts/prove/ledger/unblocks.ts";
import type { Unblock } from "../../scripts/prove/traffic/observed.ts";
import { hashToken } from "../../shared/crypto/tokens.ts";
import { anUnblock, aRun, itFinds, ledgerOf, type Rows } from "./rows.ts";

describe("npm run prove, jobs", () => {
  const job = {
    id: "j9",
    buildId: "b1",
    type: "script",
    label: "last",
    state: "passed",
    agentId: "a1",
    attempt: 2,
    retriesCount: 0,
    exitStatus: 0,
    failureReason: null,
  };
  const jobTokens = [1, 2].map((attempt) => ({
    jobId: "j9",
    attempt,
    tokenHash: hashToken(`token ${attempt}`),
  }));
  const builds = [{ id: "b1", state: "passed", deliveryId: null }];
  const logs = new Map([["j9 2", "j9 line 1\nj9 line 2\nthe end\n"]]);
  const torn = { logs: new Map([["j9 2", "j9 line 1\nthe end\n"]]) };
  const [lost, last, unended] = [
    aRun("j9", 1, undefined, "token 1"),
    aRun("j9", 1, 2, "token 2"),
    aRun("j9", 1),
  ];
  const check = (changed: object, runs = [last], rows: Rows = {}) =>
    checkJobs(ledgerOf({ jobs: [{ ...job, ...changed }], builds, jobTokens, logs, ...rows }), runs);
  const failed = { state: "failed", exitStatus: 3, label: "flaky", id: "j1", attempt: 0 };

  itFinds(check, {
    "one whose last attempt ran to its end, with its whole log": [undefined, {}],
    "a lost attempt": [undefined, {}, [lost, last]],
    "a failure with its retry": [undefined, { ...failed, retriedInJobId: "j2" }, []],
    "one without an end": [/has not ended: assigned/, { state: "assigned" }],
    "a gap of attempts": [/2 attempts, but tokens of 2/, {}, [last], { jobTokens: jobTokens.slice(1) }],
    "too many attempts": [/was begun 5 times/, { attempt: 5 }],
    "one that was given up early": [/given up after 2/, { failureReason: "The agent was lost 2 times" }],
    "a job of another agent": [/of another agent/, {}, [last], { agents: [{ id: "a2", jobId: "j9" }] }],
    "one without a run": [/no command ran/, {}, []],
    "two runs of an attempt": [/ran twice in one attempt/, {}, [last, last]],
    "a run without an end": [/did not come to its end/, {}, [{ ...last, isWhole: false }]],
    "a run with a strange token": [/with a token that is not stored/, {}, [unended]],
    "a lost part of the log": [/its log is not whole/, {}, [last], torn],
    "a failure without a retry": [/was not retried/, failed, []],
  });
});

const jobOf = (role: string, more: object = {}) => ({
  id: role,
  buildId: "b1",
  state: "passed",
  retriedInJobId: null,
  agentId: "a1",
  options: { env: { PROVE_ROLE: role } },
  ...more,
});

describe("npm run prove, dependencies", () => {
  const agents = [{ id: "a1", metaData: ["size=large"] }];
  const check = (jobs: object[], runs: ReturnType<typeof aRun>[] = [], rows: Rows = {}) =>
    checkDependencies(ledgerOf({ jobs, agents, ...rows }), runs);
  const pair = [jobOf("uploaded"), jobOf("deploy")];
  const flaky = jobOf("flaky", { state: "failed" });
  const retried = [jobOf("flaky", { state: "failed", retriedInJobId: "f2" }), jobOf("flaky", { id: "f2" })];
  const deployed = [aRun("deploy", 2, 4)];

  itFinds(check, {
    "commands in the order of their steps": [undefined, pair, [aRun("uploaded", 1, 2), ...deployed]],
    "one behind a failure that is allowed": [
      undefined,
      [flaky, jobOf("after failure")],
      [aRun("after failure", 1, 2)],
    ],
    "one behind a retry": [undefined, [...retried, jobOf("deploy")], deployed],
    "one that never began, behind a failure": [
      undefined,
      [flaky, jobOf("deploy", { state: "waiting_failed" })],
    ],
    "a command that began too early": [/began before uploaded/, pair, [aRun("uploaded", 1, 3), ...deployed]],
    "one that began beside one without an end": [
      /began before uploaded/,
      pair,
      [...deployed, aRun("uploaded", 3)],
    ],
    "one that began behind a failure": [/though flaky flaky failed/, [flaky, jobOf("deploy")], deployed],
    "one that waits for ever": [/waits for ever/, [jobOf("deploy", { state: "waiting" })]],
    "one that never began": [/never began/, [jobOf("matrix"), jobOf("deploy", { state: "waiting_failed" })]],
    "one that was not left out": [/was not left out/, [jobOf("left out")]],
    "an agent without the tag": [/without its tag/, [jobOf("tagged")], [], { agents: [] }],
  });
});

describe("npm run prove, unblocked steps", () => {
  const release = { id: "j1", buildId: "b1", type: "manual", label: "release", options: { key: "release" } };
  const answers = [{ buildId: "b1", key: "kind", value: "minor" }];
  const kept = { answers, unblockings: [{ buildId: "b1" }] };
  const check = (state: string, unblocks: Unblock[], rows: Rows = kept) =>
    checkUnblocks(unblocks, ledgerOf({ jobs: [{ ...release, state }], ...rows }));
  const late = anUnblock({ isDone: false, value: "major" });

  itFinds(check, {
    "one request that unblocked it": [undefined, "unblocked", [anUnblock(), late]],
    "a request whose answer is lost": [undefined, "unblocked", [anUnblock({ isDone: undefined }), late]],
    "a canceled one": [undefined, "canceled", [late], {}],
    "two requests that unblocked it": [/was unblocked 2 times/, "unblocked", [anUnblock(), anUnblock()]],
    "one that nobody unblocked": [/was unblocked by nobody/, "unblocked", []],
    "one that is not audited": [/and 0 audited/, "unblocked", [anUnblock()], { ...kept, unblockings: [] }],
    "one that waits for ever": [/waits for ever/, "blocked", [], {}],
    "one that is not unblocked": [/was unblocked, but is blocked_failed/, "blocked_failed", [anUnblock()]],
    "an answer of a canceled one": [/the answer minor, but is canceled/, "canceled", [], { answers }],
    "the answer of another request": [/minor, .* gave major/, "unblocked", [anUnblock({ value: "major" })]],
    "a lost answer": [/has the answer undefined/, "unblocked", [anUnblock()], { ...kept, answers: [] }],
  });

  const three = [jobOf("before"), jobOf("release", { id: "j1", state: "unblocked" }), jobOf("released")];
  const checkRuns = (runs: ReturnType<typeof aRun>[]) =>
    checkDependencies(ledgerOf({ jobs: three }), [...runs, ...runsOfUnblocks([anUnblock()])]);
  itFinds(checkRuns, {
    "an unblocking between the commands": [undefined, [aRun("before", 8, 9), aRun("released", 12, 13)]],
    "one that came too early": [/\(release\) began before before/, [aRun("before", 8, 12)]],
    "a command before it": [/\(released\) began before release/, [aRun("released", 9, 13)]],
  });
});

describe("npm run prove, trigger steps", () => {
  const check = (state: string, builds: object[], options: object = {}, parent = "passed") => {
    const made = builds.map((build, index) => ({ id: `b${index}`, triggeredByJobId: "j1", ...build }));
    const jobs = [{ id: "j1", buildId: "p1", type: "trigger", state, options }];
    return checkTriggers(ledgerOf({ jobs, builds: [{ id: "p1", state: parent }, ...made] }));
  };
  const [passed, failed] = [{ state: "passed" }, { state: "failed" }];

  itFinds(check, {
    "one build that ended as it did": [undefined, "failed", [failed]],
    "a canceled one": [undefined, "canceled", []],
    "one of a canceled build": [undefined, "passed", [failed], {}, "canceled"],
    "one that does not wait": [undefined, "passed", [failed], { trigger: { async: true } }],
    "no build": [/made no build/, "passed", []],
    "two builds": [/made 2 builds/, "passed", [passed, passed]],
    "another end": [/made a build that failed/, "passed", [failed]],
    "an end before its build": [/ended before its build/, "failed", [{ state: "running" }]],
    "a build of no step": [/of no trigger step/, "passed", [passed, { triggeredByJobId: "j9" }]],
  });
});
