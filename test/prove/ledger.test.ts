import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkBuilds } from "../../scripts/prove/ledger/builds.ts";
import { checkDeliveries } from "../../scripts/prove/ledger/deliveries.ts";
import { checkSignIns } from "../../scripts/prove/ledger/devices.ts";
import { checkAssignments, checkFanOut, listPauses } from "../../scripts/prove/ledger/dispatch.ts";
import { bodyOf, commitsOf, numberOf } from "../../scripts/prove/traffic/bodies.ts";
import { hashToken } from "../../shared/crypto/tokens.ts";
import { aChange, aDelivery, anAssignment, aPost, aSignIn, itFinds, ledgerOf, type Rows } from "./rows.ts";

const build = { id: "b1", deliveryId: "d1" };
const pushed = (number: number, commit: number) => {
  return { ...build, id: `b${number}`, number, commit: commitsOf(1)[commit] };
};

describe("npm run prove, deliveries", () => {
  const check = (post: Parameters<typeof aPost>[0], rows: Rows) =>
    checkDeliveries([aPost(post)], ledgerOf(rows));
  const delivered = { deliveries: [aDelivery()], builds: [build] };
  const filtered = { status: "not_run", post: { number: 1, builds: false } };
  const other = { post: { number: 2, builds: true } };
  const twice = { deliveries: [aDelivery(), aDelivery({ id: "d2" })], builds: [build] };

  itFinds(check, {
    "a 201 that is one delivery with its bytes and one build": [undefined, {}, delivered],
    "a filtered delivery without a build": [
      undefined,
      { builds: false },
      { deliveries: [aDelivery(filtered)] },
    ],
    "a post without an answer that is lost": [undefined, { ids: [] }, {}],
    "a post without an answer that is kept": [undefined, { ids: [] }, delivered],
    "a lost one": [/delivery d1 is lost/, {}, {}],
    "one that is not decided": [/null and 0 builds/, {}, { deliveries: [aDelivery({ status: null })] }],
    "two builds": [/created and 2 builds/, {}, { ...delivered, builds: [build, { ...build, id: "b2" }] }],
    "lost bytes": [/lost its bytes/, {}, { ...delivered, deliveries: [aDelivery({ post: undefined })] }],
    "bytes of another post": [/not have its bytes/, {}, { ...delivered, deliveries: [aDelivery(other)] }],
    "a post that is stored twice": [/post 1 \(plain\) is 2 deliveries/, {}, twice],
    "two ids for one post": [/was answered with 2 ids/, { ids: ["d1", "d2"] }, delivered],
    "a stored forgery": [/its signature is wrong/, { isForged: true, ids: [] }, delivered],
    "a build of a filtered delivery": [
      /created and 1 builds/,
      {},
      { ...delivered, deliveries: [aDelivery({ post: filtered.post })] },
    ],
    "a push of which one build is missing": [
      /\(push of bitbucket\) has the status build_created and 1 builds, not 2/,
      { trigger: "push of bitbucket" },
      delivered,
    ],
    "a push of which a commit is built twice": [
      /delivery d1 of post 1 built/,
      { trigger: "push of bitbucket" },
      { ...delivered, builds: [pushed(1, 0), pushed(2, 0)] },
    ],
    "a push that was built": [
      undefined,
      { trigger: "push of bitbucket" },
      { ...delivered, builds: [pushed(2, 1), pushed(1, 0)] },
    ],
    "a push of another commit": [
      /delivery d1 of post 1 built/,
      { trigger: "push of github" },
      { ...delivered, builds: [pushed(1, 1)] },
    ],
    "a build of no delivery": [
      /b9 is of no delivery/,
      { ids: [] },
      { builds: [{ id: "b9", deliveryId: null }] },
    ],
  });

  it("recognises a body by its bytes", () => {
    assert.deepEqual(numberOf(Buffer.from(bodyOf(7, false))), { number: 7, builds: false });
    assert.equal(numberOf(Buffer.from(bodyOf(7, false).replace("0123", "0124"))), undefined);
  });
});

describe("npm run prove, builds", () => {
  const pipeline = { id: "p1", slug: "web", steps: [{}], lastBuildNumber: 2 };
  const jobs = [1, 2, 3].map((number) => ({ id: `j${number}`, buildId: `b${number}` }));
  const uploaded = (id: string, options: object) => ({ id, buildId: "b9", options });
  const list = [
    uploaded("u1", { env: { PROVE_LIST: "one" } }),
    uploaded("u2", { key: "wait of one" }),
    uploaded("u3", { env: { PROVE_LIST: "one" } }),
  ];
  const check = (numbers: number[], rows: Rows = {}) => {
    const builds = numbers.map((number) => ({ id: `b${number}`, pipelineId: "p1", number }));
    return checkBuilds(ledgerOf({ pipelines: [pipeline], builds, jobs, ...rows }));
  };

  itFinds(check, {
    "numbers without a gap, and a job for each build": [undefined, [2, 1]],
    "a list that was uploaded as a whole": [undefined, [2, 1], { jobs: [...jobs, ...list] }],
    "a gap": [/build 2 is missing/, [1, 3]],
    "a wrong last number": [/1 builds, but the last number is 2/, [1]],
    "a lost job": [/build 1 does not have 1 jobs/, [1, 2], { jobs: jobs.slice(1) }],
    "half of an uploaded list": [/has 2 jobs/, [1, 2], { jobs: [...jobs, ...list.slice(1)] }],
  });
});

describe("npm run prove, devices", () => {
  const rows = {
    deviceCodes: [{ deviceCodeHash: hashToken("sbdc_1"), state: "used" }],
    grants: [{}],
    tokenHashes: [hashToken("sbat_1")],
  };
  const check = (signIn: object, changed: Rows = {}) =>
    checkSignIns([aSignIn(signIn)], ledgerOf({ ...rows, ...changed }));

  itFinds(check, {
    "a code that gave one stored token": [undefined, {}],
    "two tokens": [/gave 2 tokens/, { tokens: ["sbat_1", "sbat_2"] }],
    "a lost token": [/not stored/, {}, { tokenHashes: [] }],
    "a lost code": [/BCDF-GHJK is not stored/, {}, { deviceCodes: [] }],
    "two grants of a code": [/1 used device codes have 2 grants/, {}, { grants: [{}, {}] }],
  });
});

describe("npm run prove, assignments", () => {
  const changes = [aChange("pause", [100, 110]), aChange("resume", [200, 210])];
  const check = (from: number, until: number) => checkAssignments([anAssignment(from, until)], changes);

  itFinds(check, {
    "one before a pause": [undefined, 90, 105],
    "one while a pause begins": [undefined, 105, 120],
    "one while a pause ends": [undefined, 195, 205],
    "one after a pause": [undefined, 210, 220],
    "one in a pause": [/j1 was assigned while its queue was paused/, 120, 190],
  });

  it("doubts a pause after a request to resume that was not answered", () => {
    const doubted = [aChange("resume", [0, 8000], false), aChange("pause", [9000, 9010])];
    assert.equal(listPauses(doubted)[0]?.fromMs, 30_000);
    assert.deepEqual(listPauses([...doubted, aChange("resume", [9500, 9510])]), []);
  });
});

describe("npm run prove, fan-out", () => {
  const at = new Date(0);
  const queue = { id: "q1", dispatchPausedAt: at };
  const job = { id: "j1", buildId: "b1", queueId: "q1", state: "scheduled", dispatchPausedAt: at };
  const marked = { id: "b1", isPaused: true, pausedQueueId: "q1" };
  const assigned = {
    jobs: [{ ...job, state: "assigned", dispatchPausedAt: null }],
    builds: [{ ...marked, isPaused: false, pausedQueueId: null }],
  };
  const check = (rows: Rows) =>
    checkFanOut(ledgerOf({ queues: [queue], jobs: [job], builds: [marked], ...rows }));

  itFinds(check, {
    "waiting jobs and builds with the marks of their queue": [undefined, {}],
    "assigned jobs without marks": [undefined, assigned],
    "a job without a mark": [/q1 is paused, and 1 jobs/, { jobs: [{ ...job, dispatchPausedAt: null }] }],
    "a mark too many": [/q1 is running, and 1 jobs/, { queues: [{ ...queue, dispatchPausedAt: null }] }],
    "a build without a mark": [/1 builds do not match/, { builds: [{ ...marked, isPaused: false }] }],
  });
});
