import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Sample } from "../../scripts/prove/growth/sample.ts";
import { checkGrowth } from "../../scripts/prove/growth/watch.ts";
import { itFinds } from "./rows.ts";

/** A sample a minute for an hour, and 1,000 deliveries between two. */
function samplesOf(figuresAt: (minute: number) => Record<string, number>): Sample[] {
  return Array.from({ length: 60 }, (_, minute) => ({
    seconds: minute * 60,
    deliveries: 1 + minute * 1000,
    figures: { "database MB": minute * 4, ...figuresAt(minute) },
  }));
}

describe("npm run prove -- --faults none", () => {
  const check = (figuresAt: (minute: number) => Record<string, number>) => checkGrowth(samplesOf(figuresAt));
  const rising = (minute: number) => Math.min(150, 80 + minute * 10) + (minute % 3);

  itFinds(check, {
    "memory that rises at first and then wavers": [
      undefined,
      (minute) => ({ "worker.1 MB": rising(minute) }),
    ],
    "heaps by what a collection leaves": [
      undefined,
      (minute) => ({ "worker.1 heap MB": 50 + (minute % 7) * minute }),
    ],
    "memory that V8 keeps": [undefined, (minute) => ({ "worker.1 MB": minute < 45 ? 200 : 264 })],
    "keys of device codes that begin to expire": [
      undefined,
      (minute) => ({ "redis keys": Math.min(10, minute) * 100 }),
    ],
    "deliveries that take more and more of the disk": [
      /^database, bytes a delivery grows/,
      (minute) => ({ "database MB": minute ** 2 / 10 }),
    ],
  });

  const growing = { "ingress.1 MB": 5, "worker.2 heap MB": 1, "worker.1 descriptors": 1, "redis keys": 10 };
  for (const [column, growth] of Object.entries({ ...growing, "WAL MB": 5, "oldest unbuilt s": 1 }))
    itFinds(check, {
      [`growth of ${column}`]: [
        new RegExp(`^${column} grows`),
        (minute) => ({ [column]: 100 + minute * growth }),
      ],
    });

  it("does not judge a run of less than a quarter of an hour", () => {
    const samples = samplesOf((minute) => ({ "redis keys": minute * 1000 }));

    assert.deepEqual(checkGrowth(samples.slice(0, 10)), []);
  });
});
