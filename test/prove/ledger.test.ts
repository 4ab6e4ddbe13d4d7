import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkBuilds } from "../../scripts/prove/ledger/builds.ts";
import { checkDeliveries } from "../../scripts/prove/ledger/deliveries.ts";
import { checkSignIns } from "../../scripts/prove/ledger/devices.ts";
import type { Discrepancy } from "../../scripts/prove/ledger/discrepancy.ts";
import { checkAssignments, listPauses } from "../../scripts/prove/ledger/dispatch.ts";
import { checkFanOut } from "../../scripts/prove/ledger/fan-out.ts";
import { bodyOf, numberOf } from "../../scripts/prove/traffic/bodies.ts";
import { hashToken } from "../../shared/crypto/tokens.ts";
import { aChange, aDelivery, anAssignment, aPost, aSignIn, ledgerOf } from "./rows.ts";

const titles = (found: Discrepancy[]) => found.map(({ title }) => title).join("; ");
const build = { id: "b1", deliveryId: "d1" };

describe("npm run prove, deliveries", () => {
  const check = (posts: Parameters<typeof aPost>[0][], rows: Parameters<typeof ledgerOf>[0]) =>
    titles(checkDeliveries(posts.map(aPost), ledgerOf(rows)));

  it("match if a 201 is one delivery with its bytes and one build", () => {
    assert.equal(check([{}], { deliveries: [aDelivery()], builds: [build] }), "");
    const filtered = aDelivery({ status: "not_run", post: { number: 1, builds: false } });
    assert.equal(check([{ builds: false }], { deliveries: [filtered] }), "");
    assert.equal(check([{ ids: [] }], {}), "", "a post without an answer may be lost");
    assert.equal(check([{ ids: [] }], { deliveries: [aDelivery()], builds: [build] }), "", "or kept");
  });

  for (const [title, post, rows, expected] of [
    ["a lost one", {}, {}, /delivery d1 is lost/],
    [
      "one that is not decided",
      {},
      { deliveries: [aDelivery({ status: null })] },
      /status null and 0 builds/,
    ],
    [
      "two builds",
      {},
      { deliveries: [aDelivery()], builds: [build, { ...build, id: "b2" }] },
      /build_created and 2 builds/,
    ],
    ["lost bytes", {}, { deliveries: [aDelivery({ post: undefined })], builds: [build] }, /lost its bytes/],
    [
      "bytes of another post",
      {},
      { deliveries: [aDelivery({ post: { number: 2, builds: true } })], builds: [build] },
      /does not have its bytes/,
    ],
    [
      "a post that is stored twice",
      {},
      { deliveries: [aDelivery(), aDelivery({ id: "d2" })], builds: [build, { id: "b2", deliveryId: "d2" }] },
      /post 1 \(plain\) is 2 deliveries/,
    ],
    [
      "two ids for one post",
      { ids: ["d1", "d2"] },
      { deliveries: [aDelivery()], builds: [build] },
      /was answered with 2 ids/,
    ],
    [
      "a stored forgery",
      { isForged: true, ids: [] },
      { deliveries: [aDelivery()], builds: [build] },
      /its signature is wrong/,
    ],
    [
      "a build of a filtered delivery",
      { builds: false },
      { deliveries: [aDelivery({ post: { number: 1, builds: false } })], builds: [build] },
      /build_created and 1 builds/,
    ],
    [
      "a build of no delivery",
      { ids: [] },
      { builds: [{ id: "b9", deliveryId: null }] },
      /build b9 is of no delivery/,
    ],
  ] as const)
    it(`do not match with ${title}`, () => {
      assert.match(check([post as object], rows as object), expected);
    });

  it("recognise a body by its bytes", () => {
    assert.deepEqual(numberOf(Buffer.from(bodyOf(7, false))), { number: 7, builds: false });
    assert.equal(numberOf(Buffer.from(bodyOf(7, false).replace("0123", "0124"))), undefined);
    assert.equal(numberOf(Buffer.from("{")), undefined);
  });
});

describe("npm run prove, builds", () => {
  const pipeline = { id: "p1", slug: "web", steps: [{}], lastBuildNumber: 2 };
  const numbered = (number: number) => ({ id: `b${number}`, pipelineId: "p1", number });
  const jobs = [1, 2, 3].map((number) => ({ id: `j${number}`, buildId: `b${number}` }));
  const check = (numbers: number[], rows: object = {}) =>
    titles(checkBuilds(ledgerOf({ pipelines: [pipeline], builds: numbers.map(numbered), jobs, ...rows })));

  it("match if numbers have no gap and each build has its jobs", () => {
    assert.equal(check([2, 1]), "");
  });

  it("do not match with a gap, a wrong last number, or a lost job", () => {
    assert.match(check([1, 3]), /build 2 is missing/);
    assert.match(check([1]), /1 builds, but the last number is 2/);
    assert.match(check([1, 2], { jobs: jobs.slice(1) }), /build 1 does not have 1 jobs/);
  });
});

describe("npm run prove, devices", () => {
  const rows = {
    deviceCodes: [{ deviceCodeHash: hashToken("sbdc_1"), state: "used" }],
    grants: [{}],
    tokenHashes: [hashToken("sbat_1")],
  };
  const check = (signIn: object, changed: object = {}) =>
    titles(checkSignIns([aSignIn(signIn)], ledgerOf({ ...rows, ...changed })));

  it("match if a code gave one stored token", () => {
    assert.equal(check({}), "");
  });

  it("do not match with two tokens, a lost token, a lost code, or two grants", () => {
    assert.match(check({ tokens: ["sbat_1", "sbat_2"] }), /gave 2 tokens/);
    assert.match(check({}, { tokenHashes: [] }), /not stored/);
    assert.match(check({}, { deviceCodes: [] }), /BCDF-GHJK is not stored/);
    assert.match(check({}, { grants: [{}, {}] }), /1 used device codes have 2 grants/);
  });
});

describe("npm run prove, assignments", () => {
  const changes = [aChange("pause", [100, 110]), aChange("resume", [200, 210])];
  const check = (...times: [number, number][]) =>
    titles(
      checkAssignments(
        times.map((time, index) => anAssignment(time, `j${index}`)),
        changes,
      ),
    );

  it("match before, across and after a pause", () => {
    assert.equal(check([90, 105], [105, 120], [195, 205], [210, 220]), "");
  });

  it("do not match in a pause", () => {
    assert.match(check([120, 190]), /j0 was assigned while its queue was paused/);
  });

  it("doubt a pause after a request to resume that was not answered", () => {
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
  const check = (rows: object) =>
    titles(checkFanOut(ledgerOf({ queues: [queue], jobs: [job], builds: [marked], ...rows })));

  it("matches if waiting jobs and builds have the marks of their queue", () => {
    assert.equal(check({}), "");
    const assigned = { ...job, state: "assigned", dispatchPausedAt: null };
    const build = { ...marked, isPaused: false, pausedQueueId: null };
    assert.equal(check({ jobs: [assigned], builds: [build] }), "");
  });

  it("does not match without a mark, or with one too many", () => {
    assert.match(check({ jobs: [{ ...job, dispatchPausedAt: null }] }), /q1 is paused, and 1 jobs do not/);
    assert.match(check({ queues: [{ ...queue, dispatchPausedAt: null }] }), /q1 is running, and 1 jobs/);
    assert.match(check({ builds: [{ ...marked, isPaused: false }] }), /1 builds do not match/);
  });
});
