import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseConfiguration } from "../../shared/pipelines/configuration/parse.ts";
import { uploadedPipeline } from "../../shared/pipelines/pipeline-document.ts";
import { ineffectiveMembers, warningsOf } from "../../shared/pipelines/warnings.ts";

const parsed = (step: unknown) => {
  const result = uploadedPipeline.safeParse([step]);
  return result.success ? result.data.steps[0] : result.error.issues.map(({ message }) => message);
};

describe("loose forms of steps", () => {
  const command = "a";
  const rows: [given: object, stored: object][] = [
    [{ command: true }, { command: "true" }],
    [
      { command: 7, label: 2024, key: 1, image: 1.5 },
      { command: "7", label: "2024", key: "1", image: "1.5" },
    ],
    [{ commands: ["a", 7, ["b", ["c"]], null] }, { command: "a\n7\nb\nc" }],
    [
      { command, branches: [1, ["x"]], artifact_paths: 7 },
      { command, branches: "1 x", artifact_paths: "7" },
    ],
    [
      { command, parallelism: "", priority: "", timeout: " ", skip: "", soft_fail: "", retry: "" },
      { command },
    ],
    [{ command, retry: { automatic: "", manual: "" }, cancel_on_build_failing: "" }, { command }],
    [
      { command, soft_fail: "yes", skip: "no" },
      { command, soft_fail: true },
    ],
    [
      { command, skip: "On", soft_fail: "OFF" },
      { command, skip: true },
    ],
    [
      { command, agents: "queue=x" },
      { command, agents: { queue: "x" } },
    ],
    [{ command, agents: "" }, { command }],
    [
      { trigger: 7, async: "", build: { message: 1 } },
      { type: "trigger", trigger: "7", build: { message: "1" } },
    ],
    [
      { block: 2024, blocked_state: null },
      { type: "block", label: "2024" },
    ],
    [
      { wait: null, continue_on_failure: "yes" },
      { type: "wait", continue_on_failure: true },
    ],
  ];
  for (const [given, stored] of rows)
    it(`${JSON.stringify(given)}`, () => assert.deepEqual(parsed(given), stored));

  it("of which a map is no text", () => {
    const advice = "in YAML, put a text that has a colon and a blank in quotes, or after |";
    assert.deepEqual(parsed({ command: ["a", { 'echo "b': 'c"' }] }), [
      `Step command must be text: ${advice}`,
    ]);
    assert.deepEqual(parsed({ command: ["a", {}] }), ["Step command must be text"]);
    assert.deepEqual(parsed({ command, label: {} }), ["Step label must be text"]);
  });
});

describe("loose forms of YAML", () => {
  const read = (text: string) => {
    const result = parseConfiguration(text);
    return "pipeline" in result ? result.pipeline : assert.fail(JSON.stringify(result));
  };

  it("the last value of a key counts, and the build's page names the others", () => {
    const { steps, others } = read("steps:\n- command: a\n  command: b\n");
    assert.deepEqual(steps, [{ command: "b" }]);
    assert.deepEqual(warningsOf(steps, ineffectiveMembers(others)), [
      { step: null, member: "command, given again at line 3, column 3" },
    ]);
  });

  it("many keys that come again are named up to a bound", () => {
    const { others = {} } = read(`steps: []\n${"a: 1\n".repeat(1000)}`);
    assert.equal(Object.keys(others).length, 20);
  });

  it("null steps are none", () => assert.deepEqual(read("steps:\n").steps, []));

  it("yes and no are text where text is meant, and else true and false", () => {
    const { steps, env } = read("env: {A: yes}\nsteps:\n- {command: a, label: no, soft_fail: yes}\n");
    assert.deepEqual(env, { A: "yes" });
    assert.deepEqual(steps, [{ command: "a", label: "no", soft_fail: true }]);
  });
});
