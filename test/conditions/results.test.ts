import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { evaluateCondition } from "../../shared/conditions/evaluate.ts";
import { factsOfBuild } from "../../shared/conditions/facts.ts";
import type { Facts } from "../../shared/conditions/names.ts";
import { namesInStepNotify, namesInSteps } from "../../shared/conditions/names.ts";
import { parseCondition } from "../../shared/conditions/parse.ts";
import { exampleFacts, pushContext, pushFacts } from "./example-facts.ts";

type Rows = [condition: string, result: boolean, facts?: Facts][];

const withTag = factsOfBuild({
  ...pushContext,
  build: { ...pushContext.build, branch: "v1.2", tag: "v1.2" },
});
const withMessage = (message: string) =>
  factsOfBuild({ ...pushContext, build: { ...pushContext.build, message } });

const literals: Rows = [
  ["true", true],
  ["false", false],
  ["null", false],
  ["  true\n", true],
  ["(true)", true],
  ["((((false))))", false],
  [`'a' == "a"`, true],
  [`'it\\'s' == "it's"`, true],
  [`"say \\"a\\"" == 'say "a"'`, true],
  [String.raw`'a\\b' == "a\\b"`, true],
  [String.raw`'\d' == '\\d'`, true],
  [`"two\nlines" == 'two\nlines'`, true],
  ["'' == ''", true],
  ["'😀' == '😀'", true],
  ["42 == 42", true],
  ["007 == 7", true],
  ["[] == []", true],
  ["[1, 'a', [null, true]] == [1, 'a', [null, true]]", true],
  ["[1, 2] == [2, 1]", false],
  ["[1] == [1, 1]", false],
];

const comments: Rows = [
  ["true // that is so", true],
  ["// first a word\ntrue", true],
  ["true // one\n&& // two\nfalse // three", false],
  ["'// no comment' == \"// no comment\"", true],
  ["build.pull_request.repository =~ /\\/\\/|:/ // twice", true],
];

const precedence: Rows = [
  ["true || false && false", true],
  ["(true || false) && false", false],
  ["false && false || true", true],
  ["!false && false", false],
  ["!!true", true],
  ["! ! ! true", false],
  ["!(1 == 2)", true],
  // A `!` on the left negates the comparison.
  ["!build.pull_request.draft == true", true],
  ["!build.pull_request.draft == false", true, pushFacts],
  ["!build.branch == 'main'", true],
  ["!build.branch == 'main'", false, pushFacts],
  ["!build.branch != 'main'", true, pushFacts],
  ["!build.branch =~ /^feature/", false],
  ["!build.branch =~ /^feature/", true, pushFacts],
  ["!build.branch=~/^feature/", true, pushFacts],
  ["!build.branch !~ /^feature/", true],
  ["!build.pull_request.labels includes 'bug'", false],
  ["!build.pull_request.labels includes 'wip'", true],
  ["!build.pull_request.labels @> 'bug'", false],
  ["!!build.branch =~ /^feature/", true],
  ["!(build.branch) == 'main'", true],
  ["!build.branch == 'main' && !build.branch == 'stable'", true],
  ["!build.branch == 'main' && false || true", true],
  ["!build.branch == 'feature/login' || false", false],
  ["!false && true", true],
  ["!true && false || true", true],
  ["(!build.branch == 'main')", true],
  ["[!build.branch == 'main'] == [true]", true],
  ["true == !true", false],
  ["!true == false", true],
  ["true == !false", true],
  ["1 == 1 && 2 == 2 && 3 == 3", true],
  ["1 == 2 || 2 == 3 || 3 == 3", true],
  ["(1 == 1) == (2 == 2)", true],
  ["!(build.branch=~/^main/)", true],
];

const types: Rows = [
  ["1 == '1'", false],
  ["1 != '1'", true],
  ["true == 'true'", false],
  ["false == null", false],
  ["0 == false", false],
  ["'' == null", false],
  ["[] == null", false],
  ["['a'] == 'a'", false],
  ["build.pull_request.id == '7'", true],
  ["build.pull_request.id == 7", false],
  ["build.number == 42", true],
  ["build.number == '42'", false],
  ["'A' == 'a'", false],
  ["null == null", true],
  ["null != null", false],
];

const nulls: Rows = [
  ["build.tag == null", true],
  ["build.tag != null", false],
  ["build.tag == null", false, withTag],
  ["!null", true],
  ["null && true", false],
  ["null || true", true],
  ["build.tag =~ /^v/", false],
  ["build.tag !~ /^v/", true],
  ["build.tag =~ /^v/", true, withTag],
  ["null =~ /x/", false],
  ["null !~ /x/", true],
  ["null includes 'x'", false],
  ["build.pull_request.id == null", true, pushFacts],
  ["build.pull_request.draft", false, pushFacts],
  ["!build.pull_request.draft", true, pushFacts],
  ["build.creator.name == null", true],
];

const regexes: Rows = [
  ["build.branch =~ /^feature\\//", true],
  ["build.branch =~ /login/", true],
  ["build.branch =~ /^login/", false],
  ["build.branch =~ /LOGIN/", false],
  ["build.branch =~ /LOGIN/i", true],
  ["build.branch =~ /MAIN|LOGIN/i", true],
  ["build.branch !~ /^(main|master)$/", true],
  ["build.branch=~/login$/&&true", true],
  // `^` and `$` are the ends of the whole text.
  ["build.message =~ /^\\[ci skip\\]/", false],
  ["build.message =~ /login$/", false],
  ["build.message =~ /^Fix/", true],
  ["build.message =~ /skip\\]$/", true],
  ["build.message =~ /x$/", false, withMessage("x\n")],
  ["build.message =~ /Fix.*skip/", false],
  ["build.message =~ /\\A[[:alpha:]]+\\b.*/", true],
  ["'a/b' =~ /a\\/b/", true],
  ["'1.5' =~ /^\\d+\\.\\d+$/", true],
  ["'(?m)' =~ /^[(?m)]+$/", true],
  ["'ABC' =~ /(?i)abc/", true],
  ["'abC' =~ /a(?i:B)C/", true],
];

const lists: Rows = [
  ["build.pull_request.labels includes 'bug'", true],
  ["build.pull_request.labels includes 'Bug'", false],
  ["build.pull_request.labels @> 'bug'", true],
  ["build.pull_request.labels includes build.pull_request.label", true],
  ["build.pull_request.labels includes 'bug'", false, pushFacts],
  ["build.pull_request.labels == []", true, pushFacts],
  ["['main', 'feature/login'] includes build.branch", true],
  ["['main', 'stable'] @> build.branch", false],
  ["[] includes 'a'", false],
  ["[null] includes null", true],
  ["[1] includes '1'", false],
  ["[[1]] includes [1]", true],
  ["build.author.teams includes 'deploy'", false],
  ["!(build.pull_request.labels includes 'wip')", true],
  ["build.pull_request.labels includes /^bu/", true],
  ["build.pull_request.labels includes /^u/", false],
  ["build.pull_request.labels @> /BUG/i", true],
  ["build.pull_request.labels includes /a/", false, pushFacts],
  ["!build.pull_request.labels includes /^ci:/", true],
  ["[1, null, 'abc'] includes /b/", true],
  ["null includes /b/", false],
  ["[1, 1 == 1, build.branch] includes true", true],
];

const names: Rows = [
  ["build.pull_request.repository == 'git@example.com:fork/app.git'", true],
  ["build.pull_request.repository.fork", true],
  ["build.pull_request.repository.fork == true", true],
  ["build.pull_request.repository.fork", false, pushFacts],
  ["build . branch == 'feature/login'", true],
  ["build.branch != pipeline.default_branch", true],
  ["organization.slug == 'acme' && pipeline.slug == 'app'", true],
  ["build.author.email =~ /@example\\.com$/", true],
  ["build.state == 'running'", true],
];

const variables: Rows = [
  ["build.env('DEPLOY') == 'yes'", true],
  ["env('DEPLOY') == 'yes'", true],
  ['build.env("UNSET") == null', true],
  ["build.env('EMPTY') == ''", true],
  ["build.env('EMPTY') == null", false],
  ["build.env('constructor') == null", true],
  ["build.env('__proto__') == null", true],
  ["build.env('BUILDKITE_BRANCH') == build.branch", true],
  ["build.env('UNSET') =~ /x/", false],
  ["build.env(build.pull_request.label) == null", true],
  ["build.env(build.tag) == null", true],
  ["build.env(build.env('UNSET')) == null", true],
  ["build.env('UNSET') !~ /x/", true],
];

/** Conditions of the language's documentation and of public pipelines. */
const examples: Rows = [
  ['build.branch == "main" && build.message !~ /skip tests/', true, pushFacts],
  ["build.pull_request.draft == true", false],
  ["!build.pull_request.draft", true],
  ['build.source == "schedule"', false],
  ["build.env('CUSTOM_ENV') == 'value'", false],
  ["build.tag =~ /^v[0-9]+\\.0$/", false],
  ["build.message !~ /\\[skip tests\\]/i || build.branch == pipeline.default_branch", true],
  ["build.branch == 'main' || build.tag != null || build.pull_request.base_branch == 'main'", true],
  [
    `// main, or a pull request that is ready
     (build.branch == pipeline.default_branch ||
       (build.pull_request.id != null && !build.pull_request.draft)) &&
     build.env("DEPLOY") == "yes"`,
    true,
  ],
  ["build.creator.teams includes 'deploy'", false],
  ["build.pull_request.labels includes 'ready' && build.source_action == 'labeled'", true],
  ["build.env('BUILDKITE_PULL_REQUEST') != 'false'", true],
  ["build.env('BUILDKITE_PULL_REQUEST') == 'false'", true, pushFacts],
  [
    '(build.pull_request.id != null && !build.env("LABELS") =~ /skip-it/) || build.env("COMMENT") =~ /.*extended.*/',
    true,
  ],
];

function describeRows(subject: string, rows: Rows, allowed = namesInSteps): void {
  describe(subject, () => {
    for (const [text, result, facts = exampleFacts] of rows)
      it(`${facts === exampleFacts ? "" : "with other facts "}is ${result}: ${text}`, () => {
        const parsed = parseCondition(text, allowed);
        assert.ok("condition" in parsed, JSON.stringify(parsed));
        const stored = JSON.parse(JSON.stringify(parsed.condition));

        assert.deepEqual(evaluateCondition(parsed.condition, facts), { result });
        assert.deepEqual(stored, parsed.condition);
      });
  });
}

describeRows("a literal", literals);
describeRows("a comment in a condition", comments);
describeRows("precedence", precedence);
describeRows("a comparison of types", types);
describeRows("null in a condition", nulls);
describeRows("a regular expression in a condition", regexes);
describeRows("a list in a condition", lists);
describeRows("a name in a condition", names);
describeRows("a variable in a condition", variables);
describeRows("an example of the language", examples);

describe("what decides already", () => {
  it("keeps the rest from being evaluated", () => {
    const facts: Facts = { values: {}, env: () => assert.fail("a variable was read") };
    for (const text of ["false && env('A') == 'a'", "true || env('A') == 'a'", "null && env('A') =~ /a/"]) {
      const parsed = parseCondition(text, namesInSteps);
      assert.ok("condition" in parsed);
      assert.ok("result" in evaluateCondition(parsed.condition, facts), text);
    }
  });
});

describe("a condition of a step's notification", () => {
  it("reads the step", () => {
    const parsed = parseCondition("step.outcome == 'hard_failed' && step.key == null", namesInStepNotify);
    assert.ok("condition" in parsed);
    const facts: Facts = {
      ...exampleFacts,
      values: { ...exampleFacts.values, "step.outcome": "hard_failed" },
    };

    assert.deepEqual(evaluateCondition(parsed.condition, facts), { result: true });
  });
});
