import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { uploadedPipeline } from "../../shared/pipelines/pipeline-document.ts";
import { warningsOf } from "../../shared/pipelines/warnings.ts";

describe("the warnings of a pipeline", () => {
  it("name the step by label, key or place, and each member without effect", () => {
    const command = "make";
    const { steps, others } = uploadedPipeline.parse({
      secrets: ["A"],
      common: {},
      steps: [
        { command, label: "L", key: "k", artifact_paths: "x", cache: "c", if_changed: "*.ts" },
        { command, key: "k2", secrets: ["A"], checkout: {} },
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
    assert.deepEqual(warningsOf(steps, Object.keys(others ?? {})), [
      { step: null, member: "secrets" },
      { step: "L", member: "artifact_paths" },
      { step: "k2", member: "secrets" },
      { step: "k2", member: "checkout" },
      { step: "G", member: "env" },
      { step: "steps[2].steps[0]", member: "notify" },
      { step: "steps[2].steps[1]", member: "blocked" },
    ]);
  });
});
