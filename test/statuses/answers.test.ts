import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { meaningOf } from "../../shared/statuses/answers.ts";

const now = new Date("2026-11-28T07:00:00Z");
const inSeconds = (seconds: number) => String(now.getTime() / 1000 + seconds);
const read = (status: number, headers: Record<string, string> = {}, text = "") =>
  meaningOf({ status, headers, text }, now);

describe("the answer of a host to a status", () => {
  for (const status of [200, 201, 204])
    it(`is taken with ${status}`, () => assert.deepEqual(read(status), { type: "done" }));

  it("is taken if GitLab has that state already", () => {
    const text =
      '{"message":"Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition)"}';
    assert.deepEqual(read(400, {}, text), { type: "done" });
    assert.equal(read(400, {}, '{"message":"state does not have a valid value"}').type, "not_taken");
  });

  it("refuses the token with 401, and its right to a repository with 403 and 404", () => {
    for (const [status, isToken] of [
      [401, true],
      [403, false],
      [404, false],
    ] as const) {
      const meaning = read(status, { "x-ratelimit-remaining": "4999" }, "token-of-tests");
      assert.ok(meaning.type === "refused" && meaning.isToken === isToken);
      assert.match(meaning.problem, new RegExp(`^The host answered ${status}: `));
      assert.doesNotMatch(meaning.problem, /token-of-tests/);
    }
  });

  const limits: [status: number, headers: Record<string, string>, seconds: number][] = [
    [429, { "retry-after": "30" }, 30],
    [429, { "retry-after": "Sat, 28 Nov 2026 07:02:00 GMT" }, 120],
    [429, { "ratelimit-reset": inSeconds(90) }, 90],
    [429, {}, 60],
    [429, { "retry-after": "soon" }, 60],
    [429, { "retry-after": "0" }, 10],
    [429, { "retry-after": "999999" }, 3600],
    [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inSeconds(1200) }, 1200],
    [403, { "retry-after": "60", "x-ratelimit-remaining": "12" }, 60],
  ];
  for (const [status, headers, seconds] of limits)
    it(`waits ${seconds} s after ${status} with ${JSON.stringify(headers)}`, () => {
      const meaning = read(status, headers);
      assert.ok(meaning.type === "slow_down");
      assert.equal(meaning.until.getTime() - now.getTime(), seconds * 1000);
    });

  it("has a fault with 5xx and 408", () => {
    for (const status of [408, 500, 502, 503]) assert.equal(read(status).type, "faulty");
  });

  it("does not take this status with others, and says that a repository has moved", () => {
    assert.deepEqual(read(422), { type: "not_taken", problem: "The host answered 422" });
    assert.match((read(301) as { problem: string }).problem, /another address/);
  });
});
