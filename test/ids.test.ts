import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newId, newIds, timeOfId } from "../shared/ids.ts";

describe("new ids", () => {
  const times = [new Date("2026-01-31T00:00:00.001Z"), new Date("2026-01-31T00:00:00.002Z")] as const;

  it("rise within a millisecond, also if times of two alternate", () => {
    const made = times.map((): string[] => []);
    for (let round = 0; round < 1000; round++)
      for (const [index, time] of times.entries()) made[index]?.push(newId(time), ...newIds(time, 2));
    for (const [index, ids] of made.entries()) {
      assert.deepEqual(ids, ids.toSorted());
      assert.equal(new Set(ids).size, 3000);
      assert.ok(ids.every((id) => timeOfId(id).getTime() === times[index]?.getTime()));
    }
    const [earlier = [], later = []] = made;
    assert.ok((earlier.at(-1) as string) < (later[0] as string));
  });
});
