import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { YAMLError } from "yaml";
import { readGivenSteps } from "../../shared/pipelines/configuration/given.ts";
import { parseConfiguration } from "../../shared/pipelines/configuration/parse.ts";

function parsed(text: string): unknown {
  const configuration = parseConfiguration(text);
  if ("pipeline" in configuration) return configuration.pipeline;
  assert.ok(configuration.problems.every(({ field }) => field === "configuration"));
  return configuration.problems.map(({ message }) => message);
}

const aliasesOf = (name: string, amount: number) => Array(amount).fill(`*${name}`).join(" , ");

describe("a configuration in YAML", () => {
  it("is the document of a pipeline, with comments, anchors and merge keys", () => {
    const text = `
# Everything that people write
env: {VERSION: 1.10, BIG: 12345678901234567890, ON: on}
common: &common
  agents: {queue: linux, os: "ubuntu"}
  retry: &retry
    automatic: true
steps:
  - label: ":hammer: Build"
    command: |
      make
      make install
    <<: *common
    agents: {queue: large}
  - wait
  - group: Tests
    steps:
      - <<: [*common, {timeout: 5, agents: {queue: no}}]
        command: test
        depends_on: ~
  - wait: ~
    continue_on_failure: true
`;
    const retry = { automatic: [{ limit: 2 }] };
    assert.deepEqual(parsed(text), {
      env: { VERSION: "1.1", BIG: "12345678901234567890", ON: "on" },
      steps: [
        { label: ":hammer: Build", command: "make\nmake install\n", agents: { queue: "large" }, retry },
        { type: "wait" },
        {
          type: "group",
          label: "Tests",
          steps: [
            {
              command: "test",
              depends_on: [],
              agents: { queue: "linux", os: "ubuntu" },
              timeout_in_minutes: 5,
              retry,
            },
          ],
        },
        { type: "wait", continue_on_failure: true },
      ],
    });
  });

  it("may be the steps alone, also as JSON", () => {
    assert.deepEqual(parsed("- command: a\n- wait\n"), { steps: [{ command: "a" }, { type: "wait" }] });
    assert.deepEqual(parsed('{"steps": [{"command": "a"}]}'), { steps: [{ command: "a" }] });
    assert.deepEqual(parsed("---\nsteps: []\n"), { steps: [] });
    for (const none of ["", "# nothing", "~", "text", "7"])
      assert.deepEqual(parsed(none), [
        "configuration: line 1, column 1: pipeline must be an object with steps",
      ]);
    assert.deepEqual(parsed("env: {}"), ["configuration: line 1, column 1: Steps can't be blank"]);
  });

  it("says line and column of a step's problem", () => {
    const text = `steps:
  - &first
    label: é
    retry: yes
    command: a
  - group: G
    steps:
      - command: b
        priority: [
          1]
  - <<: *first
    label: x
`;
    const priority = "Step priority must be a whole number from -2,147,483,647 to 2,147,483,647";
    assert.deepEqual(parsed(text), [
      "configuration: line 4, column 5: steps[0].retry: Step retry must be an object",
      `configuration: line 9, column 9: steps[1].steps[0].priority: ${priority}`,
      "configuration: line 4, column 5: steps[2].retry: Step retry must be an object",
    ]);
  });

  for (const [reason, text, problem] of [
    ["wrong syntax", "steps:\n  - command: a\n  label: [", /^configuration: line 3, column \d+: /],
    ["an alias of nothing", "steps: *none", "line 1, column 8: has no anchor &none before this alias"],
    ["an alias of itself", "steps: &a [*a]", "line 1, column 12: has no anchor &a before this alias"],
    ["a tag", "steps:\n  - !deploy {command: a}", /line 2, column 5: Unresolved tag: !deploy/],
    ["a type that JSON does not have", "env: !!set {a}", /line 1, column 6: Unresolved tag/],
    ["another version", "%YAML 1.1\n---\nsteps: []", "line 1, column 1: must be YAML 1.2"],
    ["two documents", "steps: []\n---\nsteps: []", "line 2, column 1: must be one document, without ---"],
    ["a list as a key", "? [a]\n: b\n", "line 1, column 3: has a key that is no text"],
    ["a merge of text", "a: {<<: x}", "line 1, column 5: merges with << what is no map"],
  ] as [string, string, RegExp | string][])
    it(`is refused for ${reason}`, () => {
      const [message, ...others] = parsed(text) as string[];
      assert.deepEqual(others, []);
      if (typeof problem === "string") assert.equal(message, `configuration: ${problem}`);
      else assert.match(String(message), problem);
    });

  it("has a limit of size and depth, which aliases count for", () => {
    const large = `# ${"x".repeat(131_072)}`;
    assert.deepEqual(parsed(large), ["configuration is larger than 128 KB"]);
    const nested = (levels: number) => `common: ${"[".repeat(levels)}${"]".repeat(levels)}\nsteps: []`;
    assert.deepEqual(parsed(nested(99)), { steps: [] });
    const tooDeep = /is nested deeper than 100 levels$/;
    assert.match(String(parsed(nested(100))), tooDeep);
    assert.deepEqual(parsed(nested(60_000)), ["configuration is nested too deeply"]);
    const chain = Array.from({ length: 101 }, (_, n) => `a${n}: &a${n} [${n > 0 ? `*a${n - 1}` : ""}]`);
    assert.match(String(parsed(chain.join("\n"))), tooDeep);

    const tooLarge = /becomes too large by its aliases$/;
    const laughs = Array.from({ length: 9 }, (_, n) => {
      return `a${n}: &a${n} [${n > 0 ? aliasesOf(`a${n - 1}`, 9) : "lol"}]`;
    });
    assert.match(String(parsed(laughs.join("\n"))), tooLarge);
    const big = Array.from({ length: 2000 }, (_, n) => `k${n}: 1`);
    for (const merge of ["<<: *a", `<<: [${aliasesOf("a", 2)}]`]) {
      const steps = Array(400).fill(`- {${merge}}`).join("\n");
      assert.match(String(parsed(`common: &a {${big.join(", ")}}\nsteps:\n${steps}`)), tooLarge);
    }
    // A document of 400 bytes would become 1 MB.
    const few = (lists: number) =>
      parsed(
        `a: &a [${"x,".repeat(50)}]\nb: &b [${aliasesOf("a", 9)}]\nsteps: []\nc: [${aliasesOf("b", lists)}]`,
      );
    assert.deepEqual(few(7), { steps: [] });
    assert.match(String(few(30)), tooLarge);
    const aliases = (amount: number) => parsed(`a: &a 1\nb: [${aliasesOf("a", amount)}]\nsteps: []`);
    assert.deepEqual(aliases(1000), { steps: [] });
    assert.match(String(aliases(1001)), /has more than 1,000 aliases$/);
  });

  it("is read no further than its first problem", (t) => {
    let problems = 0;
    const countProblem = { configurable: true, set: () => void problems++ };
    Object.defineProperty(YAMLError.prototype, "code", countProblem);
    t.after(() => Reflect.deleteProperty(YAMLError.prototype, "code"));
    for (const [text, problem] of [
      ["{{matrix}}".repeat(12_000), /line 1, column 11: Unexpected flow-map-start/],
      ["%a\n".repeat(40_000), /line 1, column 1: Unknown directive %a/],
    ] as const) {
      problems = 0;
      assert.match(String(parsed(text)), problem);
      assert.equal(problems, 1);
    }
  });

  it("quotes a long tag or directive in part", () => {
    for (const text of [`a: !${"x".repeat(9000)}`, `%${"x".repeat(9000)}\n---\na: 1`]) {
      const parsed = parseConfiguration(text);
      assert.ok("problems" in parsed);
      const [problem] = parsed.problems;
      assert.ok(problem && problem.message.length < 300, `${problem?.message.length}`);
    }
  });

  it("has no name that changes objects", () => {
    assert.deepEqual(parsed("__proto__: {steps: [wait]}\nsteps: []"), { steps: [] });
    assert.deepEqual(parsed("steps: [{command: a, plugins: {__proto__: {}}}]"), [
      "configuration: line 1, column 22: Step plugins cannot have the name __proto__",
    ]);
  });
});

describe("a configuration that callers give", () => {
  it("is parsed in a thread", async () => {
    const read = (configuration: string) => readGivenSteps("an organization", { configuration });
    const configuration = "steps: [wait]";
    assert.deepEqual(await read(configuration), { steps: [{ type: "wait" }], configuration });
    await assert.rejects(read("steps: 7"), /line 1, column 1: Steps must be a list/);
  });
});
