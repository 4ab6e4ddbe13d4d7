import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { megabyte } from "../../../scripts/bench/bodies.ts";
import { drawSamples } from "../../../scripts/bench/soak/chart.ts";
import { judge } from "../../../scripts/bench/soak/judge.ts";
import type { PhaseName, Sample } from "../../../scripts/bench/soak/sample.ts";

const cap = 20 * megabyte;
const count = 60;

/** A sample a minute, and 1,000 deliveries of 1 KB between two. */
function samplesOf(
  figuresAt: (minute: number) => Record<string, number>,
  phaseAt: (minute: number) => PhaseName = () => "steady",
): Sample[] {
  return Array.from({ length: count }, (_, minute) => ({
    seconds: minute * 60,
    phase: phaseAt(minute),
    deliveries: 1 + minute * 1000,
    figures: { "database MB": minute * 4, "payloads MB": (1 + minute * 1000) / 1024, ...figuresAt(minute) },
  }));
}

function growing(samples: Sample[]): string[] {
  return judge(samples, cap)
    .filter(({ holds }) => !holds)
    .map(({ phase, title }) => `${phase}: ${title}`);
}

describe("npm run bench -- soak", () => {
  it("finds figures flat that rise at first and then waver", () => {
    const memory = (minute: number) => Math.min(150, 80 + minute * 10) + (minute % 3);

    assert.deepEqual(growing(samplesOf((minute) => ({ "worker MB": memory(minute) }))), []);
  });

  it("compares heaps after collections, and lets V8 keep memory that it does not use", () => {
    const figuresAt = (minute: number) => ({
      "worker heap MB": 50 + (minute % 7) * minute,
      "worker MB": minute < 45 ? 200 : 264,
    });

    assert.deepEqual(growing(samplesOf(figuresAt)), []);
  });

  it("waits until keys of device codes begin to expire", () => {
    const phaseAt = (minute: number) => (minute < 20 ? "steady" : "flood");
    const samples = samplesOf((minute) => ({ "Redis keys": Math.min(10, minute) * 100 }), phaseAt);

    assert.ok(!growing(samples).some((title) => title.includes("keys")));
  });

  for (const [column, growth] of [
    ["ingress MB", 5],
    ["worker heap MB", 1],
    ["worker descriptors", 1],
    ["Redis keys", 10],
    ["WAL MB", 5],
    ["oldest unbuilt s", 1],
  ] as const)
    it(`finds growth: ${column}`, () => {
      const samples = samplesOf((minute) => ({ [column]: 100 + minute * growth }));

      assert.deepEqual(growing(samples), [`steady: ${column}`]);
    });

  it("finds deliveries that take more and more of the disk", () => {
    const samples = samplesOf((minute) => ({ "database MB": minute ** 2 / 10 }));

    assert.deepEqual(growing(samples), ["steady: database, bytes a delivery"]);
  });

  it("allows a flood as many payloads as the cap and those of twenty minutes, and no more", () => {
    const kept = (minute: number) => Math.min(1 + minute * 1000, 20_000 + 20 * 1024) / 1024;
    for (const steadyMinutes of [15, 55]) {
      const phaseAt = (minute: number) => (minute < steadyMinutes ? "steady" : "flood");
      const evicting = samplesOf((minute) => ({ "payloads MB": kept(minute) }), phaseAt);
      const keeping = samplesOf(() => ({}), phaseAt);

      assert.deepEqual(growing(evicting), []);
      assert.deepEqual(growing(keeping), ["flood: payloads, share of cap and uncounted"]);
    }
  });

  it("draws a line for each column", () => {
    const drawn = drawSamples(
      "Soak",
      samplesOf(() => ({ "ingress MB": 1, "worker heap MB": 2, "Redis keys": 3 })),
    );

    assert.equal(drawn.match(/<polyline/g)?.length, 5);
    assert.doesNotMatch(drawn, /NaN|undefined/);
  });
});
