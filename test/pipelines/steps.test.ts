import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pipelineSteps, uploadedPipeline } from "../../shared/pipelines/steps.ts";

const command = "make";

const uploaded = (steps: unknown) => uploadedPipeline.safeParse(steps);

function parsed(step: unknown): unknown {
  const result = uploaded([step]);
  return result.success ? result.data.steps[0] : result.error.issues.map(({ message }) => message).join(", ");
}

/** The member as stored; undefined if it is left out. */
function member(given: object, name: string): unknown {
  const step = parsed({ command, ...given });
  assert.equal(typeof step, "object", String(step));
  return (step as Record<string, unknown>)[name];
}

function refused(given: object, message: string): void {
  assert.equal(parsed({ command, ...given }), message, JSON.stringify(given));
}

describe("the members of a step", () => {
  it("command and commands are text or a list of text", () => {
    assert.deepEqual(parsed({ command: ["make", "make test"] }), { command: "make\nmake test" });
    assert.deepEqual(parsed({ commands: "make" }), { command: "make" });
    assert.deepEqual(parsed({ commands: ["a", "b"] }), { command: "a\nb" });
    assert.deepEqual(parsed({ command: "a", commands: "b" }), { command: "a" });
    for (const none of [{}, { command: "" }, { command: [] }, { commands: [" "] }, { command: null }])
      assert.equal(parsed(none), "Step command can't be blank");
    for (const command of [7, {}, true]) refused({ command }, "Step command must be text");
    refused({ command: ["a", 7] }, "Step command must be text");
    const long = "x".repeat(65_537);
    refused({ command: long }, "Step command is too long (maximum is 65,536 characters)");
    refused({ command: ["x".repeat(65_535), "y"] }, "Step command is too long: its lines have over 64 KB");
  });

  it("command may be absent if plugins bring it", () => {
    const plugins = [{ "docker#v5": { image: "alpine" } }];
    assert.deepEqual(parsed({ plugins }), { command: "", plugins });
    assert.equal(parsed({ plugins: [] }), "Step command can't be blank");
  });

  it("label wins over name, key over id and identifier", () => {
    assert.equal(member({ label: "L", name: "N" }, "label"), "L");
    assert.equal(member({ name: "N" }, "label"), "N");
    assert.equal(member({ key: "k", id: "i", identifier: "j" }, "key"), "k");
    assert.equal(member({ id: "i", identifier: "j" }, "key"), "i");
    assert.equal(member({ identifier: "j" }, "key"), "j");
    for (const name of ["label", "name", "key", "id", "identifier"]) {
      refused({ [name]: 7 }, `Step ${name} must be text`);
      refused({ [name]: "x".repeat(256) }, `Step ${name} is too long (maximum is 255 characters)`);
      assert.deepEqual(parsed({ command, [name]: null }), { command });
    }
  });

  it("env has scalars, which become text", () => {
    const env = { A: "a", N: 7, F: 0.5, T: true, E: null };
    assert.deepEqual(member({ env }, "env"), { A: "a", N: "7", F: "0.5", T: "true", E: "" });
    assert.equal(member({ env: {} }, "env"), undefined);
    assert.equal(member({ env: null }, "env"), undefined);
    refused({ env: ["A=a"] }, "Step env must be an object of names and text");
    refused({ env: { A: [1] } }, "Step env variable A must be text, not a list");
    refused({ env: { A: { b: 1 } } }, "Step env variable A must be text, not an object");
    refused({ env: { "1A": "" } }, "Step env names must be letters, digits and _, not starting with a digit");
    refused(
      { env: { SIGNALBOX_BUILD_ID: "" } },
      "Step env names cannot be SIGNALBOX or start with SIGNALBOX_, which every build sets itself",
    );
    refused({ env: { A: "\0" } }, "Step env variable A must be text without NUL");
    refused({ env: { A: "a".repeat(65_537) } }, "Step env values are larger than 64 KB in all");
  });

  it("agents and agent_query_rules name a queue and nothing else", () => {
    for (const given of [
      { agents: { queue: "q" } },
      { agents: ["queue=q"] },
      { agent_query_rules: ["queue=q"] },
      { agents: { queue: "q" }, agent_query_rules: ["queue=q"] },
    ])
      assert.deepEqual(member(given, "agents"), { queue: "q" });
    assert.deepEqual(member({ agents: {} }, "agents"), {});
    assert.equal(member({ agents: [] }, "agents"), undefined);
    refused({ agents: "queue=q" }, "Step agents must be an object or a list");
    refused({ agents: { queue: 7 } }, "Step queue must be text");
    refused({ agents: { queue: "q", os: "linux", a: "b" } }, "Step agents can only name a queue, not os, a");
    refused({ agents: ["os=linux"] }, "Step agents can only name a queue: queue=<key>");
    refused({ agents: [7] }, "Step agents must be a list such as queue=default");
    refused(
      { agent_query_rules: ["queue=q", "os=linux"] },
      "Step agent_query_rules can only name a queue: queue=<key>",
    );
    refused({ agents: { queue: "a" }, agent_query_rules: ["queue=b"] }, "Step names more than one queue");
  });

  it("timeout_in_minutes is a whole number; 0 is none", () => {
    assert.equal(member({ timeout_in_minutes: 10 }, "timeout_in_minutes"), 10);
    assert.equal(member({ timeout_in_minutes: "10" }, "timeout_in_minutes"), 10);
    assert.equal(member({ timeout_in_minutes: 0 }, "timeout_in_minutes"), undefined);
    for (const timeout_in_minutes of [-1, 1.5, "x", "", 525_601, true])
      refused({ timeout_in_minutes }, "Step timeout_in_minutes must be a whole number from 0 to 525,600");
    assert.equal(member({ timeout: "10" }, "timeout_in_minutes"), 10);
    assert.equal(member({ timeout: 10, timeout_in_minutes: 5 }, "timeout_in_minutes"), 5);
    refused({ timeout: -1 }, "Step timeout must be a whole number from 0 to 525,600");
  });

  it("soft_fail is true, or exit statuses", () => {
    assert.equal(member({ soft_fail: true }, "soft_fail"), true);
    assert.equal(member({ soft_fail: false }, "soft_fail"), undefined);
    assert.deepEqual(member({ soft_fail: [1, { exit_status: 42 }] }, "soft_fail"), [1, 42]);
    assert.equal(member({ soft_fail: [{ exit_status: "*" }, 1] }, "soft_fail"), true);
    assert.equal(member({ soft_fail: [] }, "soft_fail"), undefined);
    assert.equal(member({ soft_fail: "true" }, "soft_fail"), true);
    assert.equal(member({ soft_fail: "false" }, "soft_fail"), undefined);
    assert.equal(member({ soft_fail: { exit_status: "*" } }, "soft_fail"), true);
    for (const soft_fail of [-1, "-1", ["-1"], { exit_status: -1 }, [{ exit_status: "-1" }]])
      assert.deepEqual(member({ soft_fail }, "soft_fail"), [-1]);
    for (const soft_fail of ["yes", [[]], [true]])
      refused({ soft_fail }, "Step soft_fail must be true, false or a list of exit statuses");
    for (const soft_fail of [{}, 1.5, [1.5], ["1.5"], [{ exit_status: "x" }], [{}]])
      refused({ soft_fail }, "Step exit statuses must be whole numbers");
  });

  it("retry.automatic is a boolean, a rule or a list of rules", () => {
    const rules = (automatic: unknown) => member({ retry: { automatic } }, "retry");
    for (const same of [true, {}, [{}], { limit: 2 }])
      assert.deepEqual(rules(same), { automatic: [{ limit: 2 }] });
    for (const same of [{ exit_status: "*" }, { exit_status: ["*", 1], limit: 2 }])
      assert.deepEqual(rules(same), { automatic: [{ exit_status: "*", limit: 2 }] });
    assert.deepEqual(rules({ exit_status: [-1, 1, "*"] }), {
      automatic: [{ exit_status: ["*", -1], limit: 2 }],
    });
    for (const exit_status of ["-1", [-1], ["-1"]])
      assert.deepEqual(rules({ exit_status }), { automatic: [{ exit_status: [-1], limit: 2 }] });
    assert.deepEqual(rules({ signal: "SigKill", signal_reason: "agent_stop" }), {
      automatic: [{ signal: ["KILL"], signal_reason: ["agent_stop"], limit: 2 }],
    });
    assert.deepEqual(rules({ signal: ["*", "none"], signal_reason: ["cancel", "none"] }), {
      automatic: [{ signal: "*", signal_reason: ["cancel", "none"], limit: 2 }],
    });
    for (const none of [false, null, []]) assert.equal(rules(none), undefined);
    assert.deepEqual(rules({ exit_status: 1, limit: "3" }), { automatic: [{ exit_status: [1], limit: 3 }] });
    assert.deepEqual(rules([{ exit_status: -1, limit: 0 }, { exit_status: [1, 2] }]), {
      automatic: [
        { exit_status: [-1], limit: 0 },
        { exit_status: [1, 2], limit: 2 },
      ],
    });
    const wrong = (automatic: unknown, message: string) => refused({ retry: { automatic } }, message);
    for (const automatic of [1, "yes"])
      wrong(automatic, "Step retry.automatic must be true, false, an object or a list");
    for (const automatic of [[1], ["*"]]) wrong(automatic, "Step retry rules must be objects");
    for (const limit of [11, -1, 1.5, "x"])
      for (const automatic of [{ limit }, [{ limit }]])
        wrong(automatic, "Step retry limit must be a whole number from 0 to 10");
    wrong({ exit_status: true }, "Step retry exit_status must be a whole number, * or a list");
    wrong({ exit_status: [] }, "Step retry exit_status is an empty list");
    wrong([{ exit_status: "x" }], "Step exit statuses must be whole numbers");
    wrong({ signal: 9 }, "Step retry signal must be text or a list");
    wrong({ signal: "" }, "Step retry signal must be a name such as SIGKILL, none or *");
    wrong({ signal: [] }, "Step retry signal is an empty list");
    wrong({ signal_reason: {} }, "Step retry signal_reason must be text or a list");
    wrong(
      { signal_reason: "agent_stopped" },
      "Step retry signal_reason must be * or one of cancel, agent_stop, agent_refused, agent_incompatible, " +
        "process_run_error, signature_rejected, stack_error, none",
    );
    refused({ retry: true }, "Step retry must be an object");
  });

  it("retry.manual is a boolean or an object", () => {
    const manual = (given: unknown) => member({ retry: { manual: given } }, "retry");
    for (const none of [true, null]) assert.equal(manual(none), undefined);
    assert.deepEqual(manual(false), { manual: { allowed: false, permit_on_passed: true } });
    assert.deepEqual(manual({ allowed: false, reason: "No" }), {
      manual: { allowed: false, permit_on_passed: true, reason: "No" },
    });
    assert.deepEqual(manual({ permit_on_passed: false }), {
      manual: { allowed: true, permit_on_passed: false },
    });
    refused({ retry: { manual: "no" } }, "Step retry.manual must be true, false or an object");
    for (const name of ["allowed", "permit_on_passed"])
      refused({ retry: { manual: { [name]: 1 } } }, `Step retry.manual.${name} must be true or false`);
    refused({ retry: { manual: { reason: 1 } } }, "Step retry.manual.reason must be text");
  });

  it("parallelism is 1 to 100", () => {
    assert.equal(member({ parallelism: 100 }, "parallelism"), 100);
    assert.equal(member({ parallelism: "2" }, "parallelism"), 2);
    for (const parallelism of [0, 101, -1, 1.5, "x", true, []])
      refused({ parallelism }, "Step parallelism must be a whole number from 1 to 100");
  });

  it("plugins are text and objects, in a list or a map", () => {
    const plugins = ["a#v1", { "b#v1": { c: [1, null] } }];
    assert.deepEqual(member({ plugins }, "plugins"), plugins);
    assert.deepEqual(member({ plugins: { "a#v1": null, "b#v1": { c: 1 } } }, "plugins"), [
      { "a#v1": null },
      { "b#v1": { c: 1 } },
    ]);
    assert.equal(member({ plugins: [] }, "plugins"), undefined);
    for (const given of ["a", 1]) refused({ plugins: given }, "Step plugins must be a list");
    for (const given of ['{"__proto__":{}}', '[{"__proto__":{}}]'])
      refused({ plugins: JSON.parse(given) }, "Step plugins cannot have the name __proto__");
    refused({ plugins: [{ a: "x".repeat(65_536) }] }, "Step plugins are larger than 64 KB");
    refused({ plugins: [1] }, "Step plugins must be text or objects");
    refused({ plugins: [{ a: { b: "\0" } }] }, "Step plugins must be text without NUL");
  });

  for (const name of [
    "depends_on",
    "if",
    "block",
    "input",
    "trigger",
    "group",
    "matrix",
    "skip",
    "branches",
    "concurrency",
    "concurrency_group",
    "concurrency_method",
  ])
    it(`${name} is refused by its name`, () => {
      for (const value of ["x", 1, true, [], {}]) refused({ [name]: value }, `Step ${name} is not supported`);
      assert.equal(parsed({ [name]: "x" }), `Step ${name} is not supported`);
      assert.equal(parsed({ wait: null, [name]: "x" }), `Step ${name} is not supported`);
      assert.deepEqual(parsed({ command, [name]: null }), { command });
    });

  it("others are ignored, and the type is a command's or a wait's", () => {
    const others = { artifact_paths: "x", priority: 1, notify: [], cache: {}, unknown: null };
    for (const type of ["script", "command", "commands", null])
      assert.deepEqual(parsed({ command, type, ...others }), { command });
    for (const type of ["manual", "trigger", 7]) refused({ type }, "Step type must be command or wait");
  });

  it("are all checked at once", () => {
    assert.equal(
      parsed({ label: 7, if: "x", parallelism: 0 }),
      "Step label must be text, Step parallelism must be a whole number from 1 to 100, Step if is not supported",
    );
    assert.equal(parsed({ label: 7 }), "Step label must be text, Step command can't be blank");
  });
});

describe("a wait", () => {
  it("is a text, a member or a type", () => {
    for (const wait of [
      "wait",
      "waiter",
      { wait: null },
      { wait: "~" },
      { type: "wait" },
      { type: "waiter", key: "k", continue_on_failure: false },
    ])
      assert.deepEqual(parsed(wait), { type: "wait" });
    const goesOn = { type: "wait", continue_on_failure: true };
    assert.deepEqual(parsed({ wait: null, continue_on_failure: true }), goesOn);
    assert.equal(
      parsed({ wait: null, continue_on_failure: "yes" }),
      "Step continue_on_failure must be true or false",
    );
    assert.equal(parsed({ wait: null, command: "x" }), "Step wait cannot have a command");
  });

  it("is no other text", () => {
    for (const text of ["make", "", "WAIT"]) assert.equal(parsed(text), "Steps must be objects");
    assert.equal(parsed({ toString: null }), "Step command can't be blank"); // cannot become a string
    for (const text of ["block", "input"]) assert.equal(parsed(text), `Step ${text} is not supported`);
  });
});

describe("a list of steps", () => {
  const refusal = (schema: typeof uploadedPipeline | typeof pipelineSteps, steps: unknown) =>
    schema
      .safeParse(schema === pipelineSteps ? steps : { steps })
      .error?.issues.map(({ message }) => message);

  it("needs a command in a pipeline", () => {
    assert.deepEqual(refusal(pipelineSteps, ["wait"]), ["Steps need a command"]);
    assert.equal(refusal(pipelineSteps, ["wait", { command }]), undefined);
    assert.equal(refusal(uploadedPipeline, ["wait"]), undefined);
    for (const schema of [pipelineSteps, uploadedPipeline])
      for (const none of [[], null, undefined])
        assert.deepEqual(refusal(schema, none), ["Steps can't be blank"]);
  });

  it("has at most 100 steps in a pipeline, and 500 in an upload", () => {
    for (const [schema, most] of [
      [pipelineSteps, 100],
      [uploadedPipeline, 500],
    ] as const) {
      assert.equal(refusal(schema, Array(most).fill({ command })), undefined);
      const message = `Steps can be ${most} at most`;
      assert.deepEqual(refusal(schema, Array(most + 1).fill({ command })), [message]);
    }
  });

  it("becomes at most 2,000 jobs, of 16 MB in all", () => {
    const steps = (parallelism: number, amount: number) => Array(amount).fill({ command, parallelism });
    for (const schema of [pipelineSteps, uploadedPipeline]) {
      assert.equal(refusal(schema, steps(100, 20)), undefined);
      const tooMany = [...steps(100, 20), { command }];
      assert.deepEqual(refusal(schema, tooMany), ["Steps become more than 2,000 jobs"]);
      const large = Array(3).fill({ command: "x".repeat(65_000), parallelism: 100 });
      assert.deepEqual(refusal(schema, large), ["Steps are too large for so many jobs"]);
    }
  });

  it("can be sent again as it is stored", () => {
    const steps = pipelineSteps.parse([
      { commands: ["a", "b"], name: "n", id: "i", env: { A: 1 }, agents: ["queue=q"], parallelism: "2" },
      { command, retry: { automatic: true, manual: false }, soft_fail: [{ exit_status: 1 }] },
      { plugins: { "a#v1": null }, timeout_in_minutes: "5" },
      "wait",
      { wait: null, continue_on_failure: true },
    ]);
    assert.deepEqual(pipelineSteps.parse(JSON.parse(JSON.stringify(steps))), steps);
  });
});

describe("an uploaded pipeline", () => {
  const steps = [{ command }];
  const refusal = (given: unknown) => uploaded(given).error?.issues.map(({ message }) => message);
  const stepsOf = (given: unknown) => uploaded(given).data?.steps;

  it("is a list of steps, or an object that has it", () => {
    assert.deepEqual(stepsOf(steps), steps);
    assert.deepEqual(stepsOf({ steps, notify: [], image: "x" }), steps);
    for (const given of ["x", 1, null, undefined])
      assert.deepEqual(refusal(given), [
        given === null
          ? "Invalid input: expected object, received null"
          : "pipeline must be an object with steps",
      ]);
    assert.deepEqual(refusal({}), ["Steps can't be blank"]);
    assert.deepEqual(refusal([]), ["Steps can't be blank"]);
  });

  it("has variables for its steps, whose own win", () => {
    const given = { env: { A: 1, B: "all" }, steps: [{ command, env: { B: "own" } }, { command }, "wait"] };
    assert.deepEqual(stepsOf(given), [
      { command, env: { A: "1", B: "own" } },
      { command, env: { A: "1", B: "all" } },
      { type: "wait" },
    ]);
    assert.deepEqual(refusal({ steps, env: { SIGNALBOX: "x" } }), [
      "env names cannot be SIGNALBOX or start with SIGNALBOX_, which every build sets itself",
    ]);
    const large = { A: "a".repeat(60_000) };
    assert.deepEqual(refusal({ env: large, steps: Array(300).fill({ command }) }), [
      "Steps are too large for so many jobs",
    ]);
  });

  it("has a queue for its steps, whose own wins", () => {
    for (const agents of [{ queue: "all" }, ["queue=all"]])
      assert.deepEqual(stepsOf({ agents, steps: [{ command, agents: { queue: "own" } }, { command }] }), [
        { command, agents: { queue: "own" } },
        { command, agents: { queue: "all" } },
      ]);
    assert.deepEqual(refusal({ steps, agents: { os: "linux" } }), ["agents can only name a queue, not os"]);
    assert.deepEqual(refusal({ steps, agents: ["queue=a", "queue=b"] }), [
      "agents names more than one queue",
    ]);
  });
});
