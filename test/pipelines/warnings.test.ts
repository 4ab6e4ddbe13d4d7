import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PipelineDocument } from "../../shared/db/schema/pipelines.ts";
import { countWarnings, findPipelineWarning, firstWarnings } from "../../shared/pipelines/warnings.ts";
import type { Step } from "../../shared/vocabulary.ts";

describe("the warnings of a pipeline", () => {
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

describe("the warning of a pipeline's conditions", () => {
  const command = "make";
  const odd = { if: "build.message !~ /[skip]/" };
  const sane = { if: "build.message !~ /\\[skip\\]/" };
  const ofStep = { if: 'step.outcome == "hard_failed" && build.message !~ /[skip]/', slack: "#ci" };
  const ofBuild = { if: 'build.state == "failed" && build.message !~ /[skip]/', email: "ada@example.com" };
  const cases: Record<string, [Step[], PipelineDocument?]> = {
    "a step": [
      [
        { command, ...sane },
        { command, ...odd },
      ],
    ],
    "a group": [[{ type: "group", ...odd, steps: [{ command }] }]],
    "a step of a group": [[{ type: "group", steps: [{ command, ...odd }] }]],
    "a notice of a step": [[{ command, notify: [ofStep] }]],
    "a notice of the build": [[{ command }], { notify: [ofBuild] }],
  };
  for (const [place, [steps, document = null]] of Object.entries(cases))
    it(`is found in ${place}`, () => {
      assert.match(findPipelineWarning(steps, document) ?? "", /^\[skip\] matches one of the letters/);
    });

  it("is none if each pattern means what it says", () => {
    assert.equal(
      findPipelineWarning([{ command, ...sane }, { command }], { notify: [{ email: "a@b.c" }] }),
      undefined,
    );
  });
});
