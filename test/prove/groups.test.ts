import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findGroupFaults, type SeenMember } from "../../scripts/prove/traffic/groups.ts";

describe("npm run prove, concurrency groups", () => {
  const member = (jobId: string, isHolding: boolean, more: Partial<SeenMember> = {}): SeenMember => ({
    ...{ jobId, isHolding, groupId: "group", isEager: false, limit: 1, position: 0 },
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
