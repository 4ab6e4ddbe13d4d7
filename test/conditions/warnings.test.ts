import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { namesInSteps } from "../../shared/conditions/names.ts";
import { findConditionWarning } from "../../shared/conditions/warnings.ts";

const skip = "[skip] matches one of the letters s, k, i and p. To match the text, write \\[skip\\].";

describe("the warning of a condition", () => {
  for (const [condition, expected] of [
    ["build.message !~ /[skip]/", skip],
    ['build.branch == "main" && !(build.message =~ /[skip]/i)', skip],
    ["build.pull_request.labels includes /[wip]/", /^\[wip\] matches one of the letters w, i and p\./],
    ["build.message =~ /[foo]/", /letters f and o\./],
  ] as const)
    it(`names the letters of a character class that may be meant as text: ${condition}`, () => {
      const warning = findConditionWarning(condition, namesInSteps) ?? "";
      if (typeof expected === "string") assert.equal(warning, expected);
      else assert.match(warning, expected);
    });

  for (const condition of [
    "build.message !~ /\\[skip\\]/",
    "build.branch =~ /[a-z]/",
    "build.branch =~ /[abc]+/",
    "build.branch =~ /^[abc]/",
    "build.branch =~ /[^abc]/",
    "build.branch =~ /[a]/",
    'build.branch == "/[skip]/"',
    "build.(",
  ])
    it(`is none for ${condition}`, () => {
      assert.equal(findConditionWarning(condition, namesInSteps), undefined);
    });
});
