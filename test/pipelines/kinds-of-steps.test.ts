import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { uploadedPipeline } from "../../shared/pipelines/pipeline-document.ts";
import { writeSteps } from "../../shared/pipelines/written-steps.ts";

function parsed(...steps: unknown[]): unknown {
  const result = uploadedPipeline.safeParse(steps);
  if (!result.success) return result.error.issues.map(({ message }) => message).join(", ");
  assert.deepEqual(uploadedPipeline.parse(writeSteps(result.data.steps)).steps, result.data.steps);
  return result.data.steps[0];
}

describe("a block and an input", () => {
  it("are a text, a member, a type or a nested form", () => {
    for (const given of [
      "block",
      "manual",
      { type: "block" },
      { type: "manual" },
      { block: "" },
      { manual: {} },
    ])
      assert.deepEqual(parsed(given), { type: "block" });
    for (const given of ["input", { type: "input" }, { input: "" }, { input: {} }])
      assert.deepEqual(parsed(given), { type: "input" });
    for (const given of [
      { block: "Go?" },
      { manual: "Go?" },
      { block: { label: "Go?" } },
      { type: "manual", name: "Go?" },
      { block: "Go?", label: "L" },
    ])
      assert.deepEqual(parsed(given), { type: "block", label: "Go?" });
    assert.deepEqual(parsed({ input: "A", block: "B" }), {
      type: "block",
      label: "B",
      others: { input: "A" },
    });
  });

  it("keep their members, and no default", () => {
    const given = { prompt: "P", submit: "S", blocked_state: "running", if: "true", key: "k" };
    assert.deepEqual(parsed({ block: "B", ...given, allowed_teams: "ops" }), {
      type: "block",
      label: "B",
      ...given,
      allowed_teams: ["ops"],
    });
    assert.deepEqual(parsed({ input: null, type: "input", blocked_state: "passed", allowed_teams: [] }), {
      type: "input",
    });
    assert.equal(parsed({ block: [] }), "Step block must be text");
    assert.equal(
      parsed({ block: "", blocked_state: "scheduled" }),
      "Step blocked_state must be passed, failed or running",
    );
    assert.equal(
      parsed({ block: "", allowed_teams: {} }),
      "Step allowed_teams must be text or a list of text",
    );
  });

  it("have fields of text and select", () => {
    const options = [{ label: "One", value: 1 }];
    const fields = [
      { text: "T", key: "a/b-c_1", required: "true", default: true, format: "[a-z]+", hint: "H" },
      { text: "T", key: "t", required: false },
      { select: "S", key: "s", options, multiple: "true", default: ["1"] },
      { select: "S", key: "u", options, multiple: false, default: 1 },
    ];
    assert.deepEqual(parsed({ block: "", fields }), {
      type: "block",
      fields: [
        { text: "T", key: "a/b-c_1", hint: "H", default: "true", format: "[a-z]+" },
        { text: "T", key: "t", required: false },
        { select: "S", key: "s", options: [{ label: "One", value: "1" }], multiple: true, default: ["1"] },
        { select: "S", key: "u", options: [{ label: "One", value: "1" }], default: "1" },
      ],
    });
    assert.deepEqual(parsed({ block: "", fields: [] }), { type: "block" });
  });

  it("name the field that is wrong", () => {
    const options = [{ label: "A", value: "a" }];
    const noOptions = "Step fields options must be a list of at least one label and value";
    const wrong: [unknown, string][] = [
      ["x", "Step fields must be a list"],
      [["x"], "Step fields must be objects with text or select"],
      [[{ key: "a" }], "Step fields must be objects with text or select"],
      [[{ text: "T" }], "Step fields must have a key, the name of the meta-data"],
      [[{ text: "T", key: "a b" }], "Step fields key can only have letters, digits, -, _ and /"],
      [[{ text: "T", key: "a", required: "maybe" }], "Step fields required must be true or false"],
      [[{ select: "S", key: "a" }], noOptions],
      [[{ select: "S", key: "a", options: [] }], noOptions],
      [
        [{ select: "S", key: "a", options, default: ["a"] }],
        "Step fields default can be a list only with multiple",
      ],
      [
        [
          { text: "T", key: "a" },
          { text: "U", key: "a" },
        ],
        'Step fields have the key "a" twice',
      ],
      [[{ text: "T", key: "a", format: "(" }], "Step fields format cannot be used: missing closing )"],
    ];
    for (const [fields, message] of wrong) assert.equal(parsed({ block: "", fields }), message);
    assert.equal(
      parsed({ command: "a" }, { block: "", fields: [{ text: "T", key: "a b" }] }),
      "steps[1].fields[0].key: Step fields key can only have letters, digits, -, _ and /",
    );
  });

  it("have formats that are bounded over all steps", () => {
    const fieldsOf = (index: number) => [{ text: "T", key: "a", format: `${index}{400}` }];
    const steps = Array.from({ length: 20 }, (_, index) => ({ block: "", fields: fieldsOf(index) }));
    assert.match(String(parsed(...steps)), /The formats of all fields are too large together/);
  });
});

describe("a trigger step", () => {
  it("is a member, a type or a nested form", () => {
    for (const given of [
      { trigger: "web" },
      { type: "trigger", trigger: "web" },
      { trigger: { trigger: "web" } },
    ])
      assert.deepEqual(parsed(given), { type: "trigger", trigger: "web" });
    for (const given of [{ type: "trigger" }, { trigger: "" }, { trigger: {} }])
      assert.equal(parsed(given), "Step trigger can't be blank");
  });

  it("keeps what its build is made of", () => {
    const build = { message: "M", commit: "C", branch: "", env: { A: 1, B: null }, meta_data: { k: true } };
    assert.deepEqual(
      parsed({
        trigger: "web",
        label: "L",
        build,
        async: "true",
        soft_fail: true,
        parallelism: 2,
        skip: "never",
      }),
      {
        type: "trigger",
        trigger: "web",
        label: "L",
        build: { message: "M", commit: "C", env: { A: "1", B: "" }, meta_data: { k: "true" } },
        async: true,
        skip: "never",
        soft_fail: true,
        parallelism: 2,
      },
    );
    assert.deepEqual(parsed({ trigger: "web", build: {}, async: false }), {
      type: "trigger",
      trigger: "web",
    });
    assert.equal(parsed({ trigger: "web", build: "x" }), "Step build must be an object");
    assert.equal(parsed({ trigger: "web", async: 1 }), "Step async must be true or false");
  });
});

describe("the concurrency of a command", () => {
  const command = "make";

  it("has a limit and a name, which need each other", () => {
    const both = { concurrency: 1, concurrency_group: "deploys" };
    assert.deepEqual(parsed({ command, ...both, concurrency: "1" }), { command, ...both });
    assert.deepEqual(parsed({ command, ...both, concurrency_method: "ordered" }), { command, ...both });
    assert.deepEqual(parsed({ command, ...both, concurrency_method: "eager" }), {
      command,
      ...both,
      concurrency_method: "eager",
    });
    assert.equal(parsed({ command, concurrency: 1 }), "Step concurrency needs concurrency_group");
    assert.equal(parsed({ command, concurrency_group: "a" }), "Step concurrency_group needs concurrency");
    assert.equal(
      parsed({ command, ...both, concurrency: 0 }),
      "Step concurrency must be a whole number from 1 to 1,000,000",
    );
    assert.equal(
      parsed({ command, ...both, concurrency_group: "x".repeat(201) }),
      "Step concurrency_group is too long (maximum is 200 characters)",
    );
    assert.equal(
      parsed({ command, ...both, concurrency_method: "random" }),
      "Step concurrency_method must be ordered or eager",
    );
  });

  it("does nothing elsewhere", () => {
    const others = { concurrency: 1 };
    assert.deepEqual(parsed({ wait: null, ...others }), { type: "wait", others });
    assert.deepEqual(parsed({ block: "", ...others }), { type: "block", others });
  });

  it("stands beside cancel_on_build_failing", () => {
    assert.deepEqual(parsed({ command, cancel_on_build_failing: "true" }), {
      command,
      cancel_on_build_failing: true,
    });
    assert.deepEqual(parsed({ command, cancel_on_build_failing: false }), { command });
  });
});
