import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readUploadAhead, uploadedPipeline } from "../../shared/pipelines/pipeline-document.ts";
import { pipelineSteps, readPipelineSteps } from "../../shared/pipelines/steps.ts";
import { doAtOnce, doWithPauses } from "../../shared/process/loop-pauses.ts";

const bare = (index: number) => ({ command: "make", key: `k${index}`, if: `build.branch == "b${index}"` });
const many = (amount: number) => Array.from({ length: amount }, (_, index) => bare(index));
const lists: Record<string, unknown> = {
  "no list": { a: 1 },
  none: [],
  one: [bare(0)],
  "one that is wrong": [{ command: 1, retry: true }],
  many: many(500),
  "too many": many(501),
  "a key twice": [bare(1), bare(1)],
  "a wrong condition": [...many(3), { command: "make", if: "build.nothing" }],
  "wrong conditions": Array(30).fill({ command: "make", if: "build.nothing ==" }),
  "wrong formats": [{ block: "B", fields: [{ text: "A", key: "a", format: "(" }] }],
  "wrong steps": many(40).map((step, index) => ({ ...step, parallelism: `x${index}` })),
  groups: [{ group: "G", steps: many(400) }, "wait", { group: "H", key: "h", steps: [{ command: "make" }] }],
  "a group of wrong steps": [{ group: "G", steps: many(60).map(({ key }) => ({ key, command: {} })) }],
  "one problem in a group": [{ group: "G", steps: [bare(1), { command: "make", priority: "x" }] }],
  "a group in a group": [{ group: "G", steps: [{ group: "H", steps: [bare(1)] }] }],
  "a group of no list": [{ group: "G", steps: { a: 1 } }],
  "a command with steps": [{ command: "make", steps: [bare(1)] }],
};

describe("steps that are read ahead, with pauses", () => {
  for (const [name, given] of Object.entries(lists))
    it(`are read as at once: ${name}`, async () => {
      const upload = { steps: given };
      const atOnce = [pipelineSteps.safeParse(given), uploadedPipeline.safeParse(upload)];

      await readPipelineSteps(given);
      await readUploadAhead(upload);

      assert.deepEqual([pipelineSteps.safeParse(given), uploadedPipeline.safeParse(upload)], atOnce);
    });

  it("give others the event loop, also between the steps of a group", async () => {
    const rich = (index: number) => ({
      ...bare(index),
      env: Object.fromEntries(many(20).map(({ key }) => [key, "v"])),
    });
    const steps = Array.from({ length: 400 }, (_, index) => rich(index));
    for (const given of [steps, [{ group: "G", steps }]]) {
      let turns = 0;
      let isRead = false;
      const count = () => {
        turns++;
        if (!isRead) setImmediate(count);
      };
      setImmediate(count);
      await readPipelineSteps(given);
      isRead = true;
      assert.ok(turns > 1, `${turns} turns`);
    }
  });
});

describe("work in pieces", () => {
  function* countTo(max: number) {
    for (let count = 0; count < max; count++) yield;
    return max;
  }

  it("gives its result at once or with pauses", async () => {
    assert.equal(doAtOnce(countTo(3)), 3);
    assert.equal(await doWithPauses(countTo(3)), 3);
  });
});
