import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { describe, it } from "node:test";
import fc from "fast-check";
import { evaluateCondition } from "../../shared/conditions/evaluate.ts";
import type { ConditionProblem } from "../../shared/conditions/expression.ts";
import { allNames } from "../../shared/conditions/names.ts";
import { parseCondition } from "../../shared/conditions/parse.ts";
import { repeat } from "../helpers/run-mode.ts";
import { exampleFacts, pushFacts } from "./example-facts.ts";

const originals = [
  'build.branch == "main" && build.message !~ /skip tests/i',
  "build.pull_request.labels includes 'bug' || ['a', [1, null]] @> build.tag // why",
  `!build.pull_request.draft && (build.env("DEPLOY") == 'yes' || build.number != 42)`,
  "build.tag =~ /^v[0-9]+\\.(a|b){2,3}\\/x$/ || build.pull_request.repository.fork == null",
  "build.branch =~ /^(feature|fix)\\/[a-z_-]+$/ &&\n  build.creator.email =~ /@example\\.com$/",
];
const pieces =
  "( ) [ ] , . ! == != =~ !~ && || @> includes // / \\ ' \" /a+/ /(a|b)*c/i /[/ 'text' 7 true false null env( build.env( build. x \n é 😀 \0 = & $ {9}".split(
    " ",
  );

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.oneof(fc.constant(0), fc.nat(4)),
  inserted: fc.oneof(
    fc.constant(""),
    fc.constantFrom(...pieces, ...allNames),
    fc.string({ maxLength: 3, unit: "binary" }),
  ),
});
const mutated = fc
  .tuple(fc.constantFrom(...originals), fc.array(edit, { minLength: 1, maxLength: 4 }))
  .map(([text, edits]) =>
    edits.reduce((now, { at, removed, inserted }) => {
      const index = Math.floor(at * now.length);
      return now.slice(0, index) + inserted + now.slice(index + removed);
    }, text),
  );

describe("conditions that were changed at random", () => {
  it("have a result or a problem with its place", (context) => {
    const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
    const numRuns = Number(process.env.TEST_CONDITIONS ?? repeat(10_000, 100_000));
    context.diagnostic(`TEST_SEED=${seed}, ${numRuns} conditions`);
    const counts = { parsed: 0, evaluated: 0 };
    const check = (text: string) => {
      const parsed = parseCondition(text, new Set(allNames));
      if ("problem" in parsed) return assertPlace(parsed.problem, text);
      counts.parsed++;
      for (const facts of [exampleFacts, pushFacts]) {
        const evaluated = evaluateCondition(parsed.condition, facts);
        if ("problem" in evaluated) assertPlace(evaluated.problem, text);
        else if (typeof evaluated.result === "boolean") counts.evaluated++;
        else assert.fail(`The result is ${evaluated.result}`);
      }
    };

    fc.assert(fc.property(mutated, check), { seed, numRuns });

    assert.ok(counts.parsed > numRuns / 50, JSON.stringify(counts));
    assert.ok(counts.evaluated > numRuns / 100, JSON.stringify(counts));
  });
});

function assertPlace({ message, offset, line, column }: ConditionProblem, text: string): void {
  assert.ok(message.length > 0 && message.length < 1000);
  assert.ok(offset >= 0 && offset <= text.length);
  assert.ok(line >= 1 && column >= 1);
}
