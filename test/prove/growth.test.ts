import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { judge } from "../../scripts/prove/growth/judge.ts";
import type { Sample } from "../../scripts/prove/growth/sample.ts";
import { checkGrowth } from "../../scripts/prove/growth/watch.ts";

const count = 60;

/** A sample a minute, and 1,000 deliveries between two. */
function samplesOf(figuresAt: (minute: number) => Record<string, number>): Sample[] {
  return Array.from({ length: count }, (_, minute) => ({
    seconds: minute * 60,
    deliveries: 1 + minute * 1000,
    figures: { "database MB": minute * 4, ...figuresAt(minute) },
  }));
}

function growing(samples: Sample[]): string[] {
  return judge(samples)
    .filter(({ holds }) => !holds)
    .map(({ title }) => title);
}

describe("npm run prove -- --faults none", () => {
  it("finds figures flat that rise at first and then waver", () => {
    const memory = (minute: number) => Math.min(150, 80 + minute * 10) + (minute % 3);

    assert.deepEqual(growing(samplesOf((minute) => ({ "worker.1 MB": memory(minute) }))), []);
  });

  it("compares heaps after collections, and lets V8 keep memory that it does not use", () => {
    const figuresAt = (minute: number) => ({
      "worker.1 heap MB": 50 + (minute % 7) * minute,
      "worker.1 MB": minute < 45 ? 200 : 264,
    });

    assert.deepEqual(growing(samplesOf(figuresAt)), []);
  });

  it("waits until keys of device codes begin to expire", () => {
    const samples = samplesOf((minute) => ({ "redis keys": Math.min(10, minute) * 100 })).slice(0, 20);

    assert.deepEqual(growing(samples), []);
  });

  for (const [column, growth] of [
    ["ingress.1 MB", 5],
    ["worker.2 heap MB", 1],
    ["worker.1 descriptors", 1],
    ["redis keys", 10],
    ["WAL MB", 5],
    ["oldest unbuilt s", 1],
  ] as const)
    it(`finds growth: ${column}`, () => {
      const samples = samplesOf((minute) => ({ [column]: 100 + minute * growth }));

      assert.deepEqual(growing(samples), [column]);
      assert.deepEqual(
        checkGrowth(samples).map(({ check }) => check),
        ["growth"],
      );
    });

  it("finds deliveries that take more and more of the disk", () => {
    const samples = samplesOf((minute) => ({ "database MB": minute ** 2 / 10 }));

    assert.deepEqual(growing(samples), ["database, bytes a delivery"]);
  });

  it("does not judge a run of less than a quarter of an hour", () => {
    const samples = samplesOf((minute) => ({ "redis keys": minute * 1000 }));

    assert.deepEqual(checkGrowth(samples.slice(0, 10)), []);
  });
});
