import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { uploadedPipeline } from "../../shared/pipelines/pipeline-document.ts";
import {
  countWarnings,
  firstWarnings,
  ineffectiveMembers,
  warningsOf,
} from "../../shared/pipelines/warnings.ts";

describe("the warnings of a pipeline", () => {
  it("name the step by label, key or place, and each member without effect", () => {
    const command = "make";
    const { steps, others } = uploadedPipeline.parse({
      notify: ["slack"],
      common: {},
      steps: [
        { command, label: "L", key: "k", image: "x", cache: "c", if_changed: "*.ts" },
        { command, key: "k2", secrets: ["A"], checkout: { depth: 1, mirror: true } },
        {
          group: "G",
          env: { A: 1 },
          steps: [
            { command, notify: [] },
            { wait: null, blocked: true },
          ],
        },
        { command },
      ],
    });
    assert.deepEqual(warningsOf(steps, ineffectiveMembers(others)), [
      { step: null, member: "notify" },
      { step: "k2", member: "checkout.mirror" },
      { step: "G", member: "env" },
      { step: "steps[2].steps[0]", member: "notify" },
      { step: "steps[2].steps[1]", member: "blocked" },
    ]);
  });

  it("are the first 100 of a list, which says how many others there are", () => {
    const warnings = Array.from({ length: 130 }, (_, index) => ({ step: `s${index}`, member: "notify" }));
    const first = firstWarnings(warnings);
    assert.equal(first.length, 100);
    assert.deepEqual(first.at(-1), { step: "s99", member: "notify", more: 30 });
    assert.deepEqual(first.slice(0, 99), warnings.slice(0, 99));

    const later = firstWarnings([...first, ...warnings.slice(0, 5)]);
    assert.deepEqual(later.at(-1), { step: "s99", member: "notify", more: 35 });
    assert.equal(countWarnings(later), 135);
    assert.deepEqual(firstWarnings([]), []);
  });
});
