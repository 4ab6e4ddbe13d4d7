import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newBudget } from "../../shared/conditions/budget.ts";
import { evaluateCondition } from "../../shared/conditions/evaluate.ts";
import { describeProblem } from "../../shared/conditions/expression.ts";
import {
  type Name,
  namesInBuildNotify,
  namesInStepNotify,
  namesInSteps,
} from "../../shared/conditions/names.ts";
import { maxConditionLength, parseCondition } from "../../shared/conditions/parse.ts";

/** `¦` marks the place, and is no part of the condition. */
type Rows = [condition: string, message: string | RegExp][];

const end = "found the end";
const noRegex = "Write a regular expression between slashes, as in /^v[0-9]/, on the right of =~ and !~";
const onlyRight = "A regular expression can only stand on the right of =~, !~ and includes";
const onlyI = "The only flag of regular expressions is i";
const quote = "The text has no closing quote";

const syntax: Rows = [
  ["¦", "The condition is empty: leave it out to have none"],
  [" // nothing¦", "The condition is empty: leave it out to have none"],
  ["(true¦", `Expected ), ${end}`],
  ["true¦)", "Expected && or ||, found )"],
  ["true ¦true", "Expected && or ||, found true"],
  ["¦)", "Expected a value, found )"],
  ["(¦)", "Expected a value, found )"],
  ["true &&¦", `Expected a value, ${end}`],
  ["true &&\n  ¦&& false", "Expected a value, found &&"],
  ["¦== 1", "Expected a value, found =="],
  ["¦includes 'a'", "Expected a value, found includes"],
  ["!¦", `Expected a value, ${end}`],
  ["[1,¦]", "Expected a value, found ]"],
  ["[1 ¦2]", "Expected ], found 2"],
  ["[1¦", `Expected ], ${end}`],
  ["build.¦", `Expected a name after the dot, ${end}`],
  ["build.¦.branch", "Expected a name after the dot, found ."],
  ["1¦.5 == 1", "Expected && or ||, found ."],
  ["1 == ¦-1", "Unexpected -"],
  ["1 + 1 == 2".replace("+", "¦+"), "Unexpected +"],
  ["1 == 1 ¦== 1", "Join comparisons by && or ||, or put one into parentheses"],
  ["'a' =~ /a/ ¦!~ /b/", "Join comparisons by && or ||, or put one into parentheses"],
  ["build.branch ¦= 'main'", "Use == to compare, or =~ to match a regular expression"],
  ["true ¦& false", "Use && for and"],
  ["true ¦| false", "Use || for or"],
  ["true ¦and false", "Use && for and"],
  ["(true ¦or false)", "Use || for or"],
  ["¦not true", "Use ! for not"],
  ["1 ¦< 2", "Conditions cannot compare by < or >, only by == and !="],
  ["1 ¦>= 2", "Conditions cannot compare by < or >, only by == and !="],
  ["¦$BRANCH == 'main'", 'Variables are read with build.env("NAME"), not with $'],
  ["build.branch == ¦“main”", "Use straight quotes"],
  ["'😀é' == ¦#", "Unexpected #"],
  ["'a' == ¦😀", "Unexpected 😀"],
  ["true &&\n  ¦'ab", quote],
  ['¦"a\\"', quote],
  ["'it'¦s' == 'a'", "Expected && or ||, found s"],
  ["¦9007199254740993 == 1", "The number is too large"],
  ["true ¦\0", "The condition must be Unicode text without NUL"],
  ["'¦\ud800'", "The condition must be Unicode text without NUL"],
];

const regexes: Rows = [
  ["build.branch =~ ¦'main'", noRegex],
  ["build.branch =~ ¦^main", noRegex],
  ["build.branch =~¦", noRegex],
  ["build.branch =~ //¦", noRegex],
  ["build.branch =~ (¦/a/)".replace("(¦", "¦("), noRegex],
  ["build.branch =~ ¦/main", "The regular expression has no closing /"],
  ["build.branch =~ ¦/ma\nin/", "The regular expression has no closing /"],
  ["build.branch == ¦/main/", onlyRight],
  ["¦/main/ =~ build.branch", onlyRight],
  ["[¦/x/] includes 'x'", onlyRight],
  ["build.pull_request.labels includes ¦/x", "The regular expression has no closing /"],
  ["build.branch =~ /main/¦m", `${onlyI}. Write \\/ for a slash inside one`],
  ["build.branch =~ /main/¦ig", `${onlyI}. Write \\/ for a slash inside one`],
  ["build.branch =~ /^feature/¦login/", `${onlyI}. Write \\/ for a slash inside one`],
  ["build.branch =~ /a¦(?m)^b/", onlyI],
  ["build.branch =~ /¦(?s)a/", onlyI],
  ["build.branch =~ /¦(?is:a)/", onlyI],
  [
    "build.branch =~ /a¦(?=b)/",
    "Regular expressions have no look-around, so that every match takes linear time",
  ],
  [
    "build.branch =~ /¦(?!b)a/i",
    "Regular expressions have no look-around, so that every match takes linear time",
  ],
  [
    "build.branch =~ /¦(?<=b)a/",
    "Regular expressions have no look-around, so that every match takes linear time",
  ],
  [
    "build.branch =~ /¦(?<!b)a/",
    "Regular expressions have no look-around, so that every match takes linear time",
  ],
  [
    "build.branch =~ /(a)¦\\1/",
    "Regular expressions have no back-references, so that every match takes linear time",
  ],
  [
    "build.branch =~ /(?P<x>a)¦\\k<x>/",
    "Regular expressions have no back-references, so that every match takes linear time",
  ],
  ["build.branch =~ /¦(a/", "The regular expression cannot be used: missing closing )"],
  ["build.branch =~ /a¦[b/", "The regular expression cannot be used: missing closing ]"],
  ["build.branch =~ /a¦**/", "The regular expression cannot be used: invalid nested repetition operator"],
  [
    "build.branch =~ /¦*.js/",
    "The regular expression cannot be used: missing argument to repetition operator",
  ],
  ["build.branch =~ /¦(a{30}){30}/", "The regular expression repeats too much (maximum is 500 parts)"],
];

const names: Rows = [
  [
    "build.branch == ¦main",
    "Unknown name main: put texts in quotes; names begin with build, pipeline, organization",
  ],
  ["¦branch == main", "Unknown name branch: write build.branch"],
  [
    "¦constructor",
    "Unknown name constructor: put texts in quotes; names begin with build, pipeline, organization",
  ],
  ["¦build", /^build has no value by itself: build has id, number, branch, /],
  [
    "¦build.pull_request == null",
    /^build\.pull_request has no value by itself: build\.pull_request has id, base_branch/,
  ],
  ["¦build.author", "build.author has no value by itself: build.author has id, name, email, teams"],
  ["¦build.brnach == 'main'", "Unknown name build.brnach (did you mean build.branch?)"],
  ["true && ¦build.mesage == 'a'", "Unknown name build.mesage (did you mean build.message?)"],
  [
    "¦build.nothing_of_this_name",
    "Unknown name build.nothing_of_this_name: build has id, number, branch, commit, message, tag, source, state, source_event, source_action, author, creator, merge_queue, pull_request",
  ],
  [
    "true ||\n¦build.author.nick == 'a'",
    "Unknown name build.author.nick: build.author has id, name, email, teams",
  ],
  ["¦build.__proto__", /^Unknown name build\.__proto__: build has /],
  ["¦pipeline.name == 'a'", "Unknown name pipeline.name: pipeline has id, slug, default_branch, repository"],
  ["¦step.outcome == 'passed'", "step.outcome cannot be used here"],
  ["¦pipeline.started_passing", "pipeline.started_passing cannot be used here"],
  ["¦build.meta_data('a') == 'b'", "Unknown function build.meta_data(): the only one is build.env()"],
  [
    "¦build.message.includes('a')",
    "Unknown function build.message.includes(): compare it with a regular expression, as in build.message =~ /main/",
  ],
  [
    "¦webhook.payload.ref == 'a'",
    "Unknown name webhook.payload.ref: filters of triggers read the webhook; here names begin with build, pipeline, organization",
  ],
  ["¦contains(build.branch)", "Unknown function contains(): the only one is build.env()"],
  ["build.env(¦) == 'a'", 'build.env() takes a name, as in build.env("NAME")'],
  ["build.env('A'¦, 'B')", "Expected ), found ,"],
  ["¦build.env == 'a'", 'Variables are read with build.env("NAME")'],
  ["¦build.env.A == 'a'", 'Variables are read with build.env("NAME")'],
  ["¦env", 'Variables are read with build.env("NAME")'],
  [`true && ¦${"x".repeat(120)}`, /^Unknown name x{100}…: put/],
];

const types: Rows = [
  ["¦'a'", "Expected true or false, found a text: compare it by == or =~"],
  ["¦1", "Expected true or false, found a number: compare it by =="],
  ["¦[]", "Expected true or false, found a list: use includes"],
  ["¦build.branch", "Expected true or false, found a text: compare it by == or =~"],
  ["true && ¦build.number", "Expected true or false, found a number: compare it by =="],
  ["false ||\n ¦build.env('DEPLOY')", "Expected true or false, found a text: compare it by == or =~"],
  ["!¦build.pull_request.labels", "Expected true or false, found a list: use includes"],
  ["true == !¦build.branch", "Expected true or false, found a text: compare it by == or =~"],
  ["!(¦build.branch) && 'a' == 'b'", "Expected true or false, found a text: compare it by == or =~"],
  // Also where facts have no value, and where what stands before decides already.
  ["¦build.tag", "Expected true or false, found a text: compare it by == or =~"],
  ["!¦build.tag", "Expected true or false, found a text: compare it by == or =~"],
  ["!¦build.env('UNSET')", "Expected true or false, found a text: compare it by == or =~"],
  ["false && ¦build.number", "Expected true or false, found a number: compare it by =="],
  ["true || !¦build.branch", "Expected true or false, found a text: compare it by == or =~"],
  ["false && (true || [true, !¦'a'] == [])", "Expected true or false, found a text: compare it by == or =~"],
  [
    "build.branch == 'main' || ¦build.tag includes 'v1'",
    "The left side of includes must be a list, not a text",
  ],
  ["true || ¦build.number =~ /4/", "Only a text can match a regular expression, not a number"],
  ["true || ¦build.branch includes /a/", "The left side of includes must be a list, not a text"],
  ["¦build.number =~ /4/", "Only a text can match a regular expression, not a number"],
  ["¦42 !~ /4/", "Only a text can match a regular expression, not a number"],
  ["¦build.pull_request.draft =~ /f/", "Only a text can match a regular expression, not true or false"],
  ["¦build.pull_request.labels =~ /bug/", "Only a text can match a regular expression, not a list"],
  ["¦build.branch includes 'login'", "The left side of includes must be a list, not a text"],
  ["¦1 @> 1", "The left side of includes must be a list, not a number"],
  ["build.env(¦1) == 'a'", "build.env() takes a text, not a number"],
  ["build.env(¦null) == 'a'", "build.env() takes a text, not null"],
  ["true || build.env(¦build.pull_request.labels) == 'a'", "build.env() takes a text, not a list"],
];

function problemOf(text: string, allowed: ReadonlySet<Name> = namesInSteps) {
  const parsed = parseCondition(text, allowed);
  return "problem" in parsed ? parsed.problem : undefined;
}

function describeRows(subject: string, rows: Rows): void {
  describe(subject, () => {
    for (const [marked, message] of rows)
      it(`is a problem of the place: ${marked}`, () => {
        const offset = marked.indexOf("¦");
        const lines = marked.slice(0, offset).split("\n");

        const found = problemOf(marked.replace("¦", ""));

        assert.ok(found);
        if (typeof message === "string") assert.equal(found.message, message);
        else assert.match(found.message, message);
        assert.equal(found.offset, offset);
        assert.equal(found.line, lines.length);
        assert.equal(found.column, [...(lines.at(-1) ?? "")].length + 1);
      });
  });
}

describeRows("wrong syntax", syntax);
describeRows("a wrong regular expression", regexes);
describeRows("a wrong name", names);
describeRows("a wrong type", types);

describe("the problem of a condition", () => {
  it("is described with line and column", () => {
    const found = problemOf("true &&\n  build.number");
    assert.ok(found);
    assert.equal(
      describeProblem(found),
      "Expected true or false, found a number: compare it by ==, at line 2, column 3",
    );
  });

  it("depends on the place of the condition", () => {
    assert.equal(problemOf("step.state == 'running'", namesInStepNotify), undefined);
    assert.equal(problemOf("pipeline.started_failing", namesInBuildNotify), undefined);
    for (const [text, allowed] of [
      ["build.state == 'failed'", namesInStepNotify],
      ["pipeline.started_failing", namesInStepNotify],
      ["step.state == 'running'", namesInBuildNotify],
    ] as const)
      assert.match(problemOf(text, allowed)?.message ?? "", /^[\w.]+ cannot be used here$/);
  });
});

describe("a hostile condition", () => {
  const nested = (depth: number, open: string, close: string) =>
    `${open.repeat(depth)}true${close.repeat(depth)}`;
  for (const [open, close] of [
    ["(", ")"],
    ["[", "]"],
    ["!", ""],
    ["env(", ")"],
    ["(!", ")"],
    ["[!(", ")]"],
  ] as const) {
    it(`is refused if it nests ${open} deeply`, () => {
      for (const depth of [101, 1000])
        assert.match(
          problemOf(nested(depth, open, close))?.message ?? "",
          /^The condition is nested deeper than 100 levels$/,
        );
    });
  }

  it("may nest 100 levels", () => {
    for (const text of [nested(100, "(", ")"), nested(100, "!", "")])
      assert.equal(problemOf(text), undefined);
    assert.equal(problemOf(Array(150).fill("(true)").join("&&")), undefined);
    const lists = nested(100, "[", "]");
    assert.ok("condition" in parseCondition(`${lists} == []`, namesInSteps));
  });

  it("is refused if it is long", () => {
    const text = " ".repeat(maxConditionLength - 4);
    assert.equal(problemOf(`${text}true`), undefined);
    assert.deepEqual(problemOf(`${text} true`), {
      message: "The condition is longer than 8192 characters",
      offset: 8192,
      line: 1,
      column: 8193,
    });
  });

  it("is refused if its regular expressions are large together", () => {
    const part = "'a' =~ /a{490}/";
    assert.equal(problemOf(Array(4).fill(part).join(" && ")), undefined);
    assert.deepEqual(problemOf(Array(5).fill(part).join(" && ")), {
      message: "The regular expressions are too large together: shorten them, or repeat less in them",
      offset: 4 * (part.length + 4) + 7,
      line: 1,
      column: 4 * (part.length + 4) + 8,
    });
  });

  const longText = (length: number) => ({ values: {}, env: () => "a".repeat(length) });
  const parsed = parseCondition("build.env('LONG') =~ /^(a+b?){50}$/", namesInSteps);

  it("is refused if a text is very long for its regular expression", () => {
    assert.ok("condition" in parsed);
    assert.deepEqual(evaluateCondition(parsed.condition, longText(6000)), {
      problem: {
        message:
          "The regular expressions are too large for texts of this length: shorten them, or repeat less in them",
        offset: 18,
        line: 1,
        column: 19,
      },
    });
  });

  it("leaves the budget of its document to those behind it if it is quick", () => {
    const budget = newBudget();
    const quick = parseCondition("build.env('LONG') !~ /\\[(skip|no) (ci|tests)\\]/", namesInSteps);
    assert.ok("condition" in quick);
    const { condition } = quick;
    const outcomes = Array.from({ length: 30 }, () => evaluateCondition(condition, longText(10_000), budget));

    assert.deepEqual(outcomes, Array(30).fill({ result: true }));
  });

  it("is refused if those before it took long", () => {
    assert.ok("condition" in parsed);
    const budget = newBudget();
    const begin = performance.now();
    let outcome = evaluateCondition(parsed.condition, longText(1900), budget);
    while ("result" in outcome && performance.now() - begin < 20_000)
      outcome = evaluateCondition(parsed.condition, longText(1900), budget);

    assert.ok("problem" in outcome);
  });

  it("is refused if those before it in its document are too long together", () => {
    const budget = newBudget();
    const long = `"${"x".repeat(7990)}" == ""`;
    const problems = Array.from({ length: 26 }, () => {
      const parsed = parseCondition(long, namesInSteps, budget);
      return "problem" in parsed ? parsed.problem.message : undefined;
    });

    assert.deepEqual(problems.slice(0, 25), Array(25).fill(undefined));
    assert.equal(problems[25], "The conditions of the steps are too long together: shorten them");
  });

  it("is refused if it has many parts", () => {
    assert.equal(problemOf(Array(999).fill("true").join("&&")), undefined);
    assert.equal(
      problemOf(Array(1000).fill("true").join("&&"))?.message,
      "The condition has more than 1000 parts",
    );
  });
});
