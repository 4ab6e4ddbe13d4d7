import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { uploadedPipeline } from "../../shared/pipelines/pipeline-document.ts";
import { pipelineSteps } from "../../shared/pipelines/steps.ts";
import { writeSteps } from "../../shared/pipelines/written-steps.ts";

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
    assert.equal(parsed({ command: {} }), "Step command can't be blank");
    refused({ command: ["a", {}] }, "Step command must be text");
    const long = "x".repeat(65_537);
    refused({ command: long }, "Step command is too long (maximum is 65,536 characters)");
    refused({ command: ["x".repeat(65_535), "y"] }, "Step command is too long: its lines have over 64 KB");
  });

  it("command may be absent if plugins bring it, or the type says so", () => {
    assert.deepEqual(parsed({ type: "script", label: "L" }), { label: "L", command: "" });
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
      const max = name === "label" || name === "name" ? 255 : 100;
      refused({ [name]: {} }, `Step ${name} must be text`);
      refused({ [name]: "x".repeat(max + 1) }, `Step ${name} is too long (maximum is ${max} characters)`);
      assert.deepEqual(parsed({ command, [name]: null }), { command });
    }
    for (const name of ["key", "id", "identifier"]) {
      for (const blank of ["", " "]) refused({ [name]: blank }, `Step ${name} can't be blank`);
      refused({ [name]: "01935d3a-7C2e-7000-8000-0123456789ab" }, `Step ${name} cannot be a UUID`);
      assert.equal(member({ [name]: "deploy €/1" }, "key"), "deploy €/1");
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

  it("agents and agent_query_rules name a queue and tags", () => {
    for (const given of [
      { agents: { queue: "q" } },
      { agents: ["queue=q"] },
      { agents: [{ queue: "q" }, " "] },
      { agent_query_rules: ["queue=q"] },
      { agents: { queue: "q" }, agent_query_rules: ["queue=q"] },
    ])
      assert.deepEqual(member(given, "agents"), { queue: "q" });
    for (const agents of [
      { queue: "q", os: "linux", docker: true, cpus: 8, gpu: "*", none: null },
      ["queue=q", "os=linux", " docker = true ", "cpus=8", "gpu"],
      ["gpu=*", { os: "linux", docker: "true" }, { queue: "q" }, "cpus=8"],
    ])
      assert.deepEqual(member({ agents }, "agents"), {
        queue: "q",
        os: "linux",
        docker: "true",
        cpus: "8",
        gpu: "*",
      });
    assert.deepEqual(member({ agents: ["os=linux", "os=mac", "os=linux", "a=b=c"] }, "agents"), {
      os: ["linux", "mac"],
      a: "b=c",
    });
    assert.deepEqual(member({ agents: {} }, "agents"), {});
    assert.equal(member({ agents: [] }, "agents"), undefined);
    refused({ agents: 7 }, "Step agents must be an object or a list");
    refused({ agents: { queue: {} } }, "agents: Step queue must be text");
    refused({ agents: { os: {} } }, "Step agents os must be text");
    refused({ agents: { "a=b": "c" } }, 'Step agents cannot have the name "a=b"');
    refused({ agents: ["=c"] }, 'Step agents cannot have the name ""');
    refused({ agents: { os: "\0" } }, "Step agents must be text without NUL");
    refused({ agents: [7] }, "Step agents must be a list such as queue=default");
    for (const agent_query_rules of [{ queue: "q" }, [{ queue: "q" }], 7])
      refused({ agent_query_rules }, "Step agent_query_rules must be a list such as queue=default");
    refused(
      { agents: { queue: "a" }, agent_query_rules: ["queue=b"] },
      "agents: Step names more than one queue",
    );
    refused({ agents: ["queue=a", "queue=b"] }, "agents: Step names more than one queue");
    refused(
      { agents: Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`tag-${n}`, "value"])) },
      "Step agents are too large: their rules have over 2,000 bytes",
    );
  });

  it("priority is a whole number, also a negative one", () => {
    for (const [priority, stored] of [
      [-7, -7],
      ["-7", -7],
      [0, 0],
    ])
      assert.equal(member({ priority }, "priority"), stored);
    for (const priority of [1.5, "high", 3_000_000_000, true])
      refused({ priority }, "Step priority must be a whole number from -2,147,483,647 to 2,147,483,647");
  });

  it("timeout_in_minutes is a whole number; 0 is none", () => {
    assert.equal(member({ timeout_in_minutes: 10 }, "timeout_in_minutes"), 10);
    assert.equal(member({ timeout_in_minutes: "10" }, "timeout_in_minutes"), 10);
    assert.equal(member({ timeout_in_minutes: 0 }, "timeout_in_minutes"), undefined);
    for (const timeout_in_minutes of [-1, 1.5, "x", 525_601, true])
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
    for (const soft_fail of ["always", [[]]])
      refused({ soft_fail }, "Step soft_fail must be true, false or a list of exit statuses");
    for (const soft_fail of [{}, 1.5, [1.5], ["1.5"], [true], [{ exit_status: "x" }], [{}]])
      assert.match(
        String(parsed({ command, soft_fail })),
        /^soft_fail[\w.[\]]*: Step exit statuses must be whole numbers$/,
      );
  });

  it("retry.automatic is a boolean, a rule or a list of rules", () => {
    const rules = (automatic: unknown) => member({ retry: { automatic } }, "retry");
    for (const same of [true, "true", {}, [{}], { limit: 2 }])
      assert.deepEqual(rules(same), { automatic: [{ limit: 2 }] });
    for (const same of [{ exit_status: "*" }, { exit_status: ["*", 1], limit: 2 }])
      assert.deepEqual(rules(same), { automatic: [{ exit_status: "*", limit: 2 }] });
    assert.deepEqual(rules({ exit_status: [-1, 1, "*"] }), {
      automatic: [{ exit_status: "*", limit: 2 }],
    });
    for (const exit_status of ["-1", [-1], ["-1"]])
      assert.deepEqual(rules({ exit_status }), { automatic: [{ exit_status: [-1], limit: 2 }] });
    assert.deepEqual(rules({ signal: "SigKill", signal_reason: "agent_stop" }), {
      automatic: [{ signal: ["KILL"], signal_reason: ["agent_stop"], limit: 2 }],
    });
    assert.deepEqual(rules({ signal: ["*", "none"], signal_reason: ["cancel", "none"] }), {
      automatic: [{ signal: "*", signal_reason: ["cancel", "none"], limit: 2 }],
    });
    for (const none of [false, "false", null, []]) assert.equal(rules(none), undefined);
    assert.deepEqual(rules({ exit_status: 1, limit: "3" }), { automatic: [{ exit_status: [1], limit: 3 }] });
    assert.deepEqual(rules([{ exit_status: -1, limit: 0 }, { exit_status: [1, 2] }]), {
      automatic: [
        { exit_status: [-1], limit: 0 },
        { exit_status: [1, 2], limit: 2 },
      ],
    });
    const wrong = (automatic: unknown, message: string) => refused({ retry: { automatic } }, message);
    for (const automatic of [1, "always"])
      wrong(automatic, "Step retry.automatic must be true, false, an object or a list");
    for (const automatic of [[1], ["*"]]) wrong(automatic, "Step retry rules must be objects");
    for (const limit of [11, -1, 1.5, "x"])
      for (const automatic of [{ limit }, [{ limit }]])
        wrong(automatic, "Step retry limit must be a whole number from 0 to 10");
    wrong({ exit_status: {} }, "Step retry exit_status must be a whole number, * or a list");
    wrong({ exit_status: [] }, "Step retry exit_status is an empty list");
    wrong([{ exit_status: "x" }], "retry.automatic[0].exit_status: Step exit statuses must be whole numbers");
    wrong({ signal: {} }, "Step retry signal must be text or a list");
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
    for (const none of [false, "false"])
      assert.deepEqual(manual(none), { manual: { allowed: false, permit_on_passed: false } });
    assert.deepEqual(manual({ allowed: "false", reason: "No" }), {
      manual: { allowed: false, permit_on_passed: false, reason: "No" },
    });
    assert.deepEqual(manual({ permit_on_passed: true }), {
      manual: { allowed: true, permit_on_passed: true },
    });
    refused({ retry: { manual: "never" } }, "Step retry.manual must be true, false or an object");
    for (const name of ["allowed", "permit_on_passed"])
      refused({ retry: { manual: { [name]: 1 } } }, `Step retry.manual.${name} must be true or false`);
    refused({ retry: { manual: { reason: {} } } }, "Step retry.manual.reason must be text");
  });

  it("parallelism is 2 to 100; 0 and 1 are one plain job", () => {
    assert.equal(member({ parallelism: 100 }, "parallelism"), 100);
    assert.equal(member({ parallelism: "2" }, "parallelism"), 2);
    for (const plain of [0, 1, null]) assert.equal(member({ parallelism: plain }, "parallelism"), undefined);
    for (const parallelism of [101, -1, 1.5, "x", true, []])
      refused({ parallelism }, "Step parallelism must be a whole number from 0 to 100");
  });

  it("depends_on is a key or a list of keys; null and an empty list are no absent one", () => {
    for (const none of [null, []]) assert.deepEqual(member({ depends_on: none }, "depends_on"), []);
    assert.deepEqual(parsed({ command }), { command });
    for (const depends_on of ["a", ["a"], { step: "a" }, [{ step: "a", allow_failure: false }]])
      assert.deepEqual(member({ depends_on }, "depends_on"), [{ step: "a" }]);
    assert.deepEqual(member({ depends_on: [1, { step: 2, allow_failure: "true" }] }, "depends_on"), [
      { step: "1" },
      { step: "2", allow_failure: true },
    ]);
    for (const depends_on of [[[]], [[true]]])
      refused({ depends_on }, "Step depends_on must be a key or a list of keys");
    for (const depends_on of [{}, [{ step: [] }]])
      refused({ depends_on }, "Step depends_on must name the key of a step");
    refused({ depends_on: " " }, "Step depends_on can't have a blank key");
    refused({ depends_on: Array(501).fill("a") }, "Step depends_on can have 500 keys at most");
    refused(
      { depends_on: { step: "a", allow_failure: 1 } },
      "Step depends_on allow_failure must be true or false",
    );
    assert.equal(member({ allow_dependency_failure: "true" }, "allow_dependency_failure"), true);
    assert.equal(member({ allow_dependency_failure: false }, "allow_dependency_failure"), undefined);
  });

  it("if is a condition, also a boolean", () => {
    assert.equal(member({ if: 'build.branch == "main"' }, "if"), 'build.branch == "main"');
    assert.equal(member({ if: false }, "if"), "false");
    refused({ if: {} }, "Step if must be text");
    assert.match(
      String(parsed({ command, if: "build.branch = 1" })),
      /^if: Use == to compare.*at line 1, column 14$/,
    );
    for (const none of ["", " \n", null]) assert.equal(member({ if: none }, "if"), undefined);
  });

  it("if has its types checked as a whole, whatever decides before them", () => {
    refused(
      { if: 'build.branch == "main" && !build.tag' },
      "if: Expected true or false, found a text: compare it by == or =~, at line 1, column 28",
    );
    refused(
      { if: "true || build.branch includes 'a'" },
      "if: The left side of includes must be a list, not a text, at line 1, column 9",
    );
    assert.equal(member({ if: "!build.tag =~ /^v/" }, "if"), "!build.tag =~ /^v/");
  });

  it("branches are patterns, in a text or a list, and exclude if", () => {
    assert.equal(member({ branches: "main !x" }, "branches"), "main !x");
    assert.equal(member({ branches: ["main", "release/*"] }, "branches"), "main release/*");
    for (const every of ["", [], null]) assert.equal(member({ branches: every }, "branches"), undefined);
    for (const branches of [[{}], {}]) refused({ branches }, "Step branches must be text or a list of text");
    refused({ if: true, branches: "main" }, "Step cannot have both if and branches");
    assert.equal(parsed({ wait: null, if: true, branches: "a" }), "Step cannot have both if and branches");
  });

  it("skip is true, or the reason", () => {
    for (const skip of [true, "true"]) assert.equal(member({ skip }, "skip"), true);
    assert.equal(member({ skip: "Flaky" }, "skip"), "Flaky");
    for (const none of [false, "false", "", null]) assert.equal(member({ skip: none }, "skip"), undefined);
    refused({ skip: {} }, "Step skip must be true, false or text");
  });

  it("image and signature are kept as they are", () => {
    const signature = { value: "x", algorithm: "EdDSA", signed_fields: ["command"], more: [1] };
    assert.deepEqual(parsed({ command, image: "alpine", signature }), {
      command,
      image: "alpine",
      signature,
    });
    refused({ signature: "x" }, "Step signature must be an object");
    refused({ image: {} }, "Step image must be text");
  });

  it("plugins are text and objects, in a list or a map", () => {
    const plugins = ["a#v1", { "b#v1": { c: [1, null] } }];
    const one = [{ "a#v1": null }, { "b#v1": { c: [1, null] } }];
    assert.deepEqual(member({ plugins }, "plugins"), one);
    assert.deepEqual(member({ plugins: [{ "a#v1": null, ...one[1] }] }, "plugins"), one);
    assert.deepEqual(writeSteps([{ command: "", plugins }]), [{ command: "", plugins: one }]);
    assert.deepEqual(member({ plugins: { "a#v1": null, "b#v1": { c: 1 } } }, "plugins"), [
      { "a#v1": null },
      { "b#v1": { c: 1 } },
    ]);
    assert.equal(member({ plugins: [] }, "plugins"), undefined);
    for (const given of ["a", 1]) refused({ plugins: given }, "Step plugins must be a list");
    for (const given of ['{"__proto__":{}}', '[{"__proto__":{}}]'])
      refused({ plugins: JSON.parse(given) }, "Step plugins cannot have the name __proto__");
    refused({ plugins: [{ a: "x".repeat(65_536) }] }, "Step plugins are larger than 64 KB");
    refused({ plugins: [[]] }, "Step plugins must be text or objects");
    refused({ plugins: [{ a: { b: "\0" } }] }, "Step plugins must be text without NUL");
  });

  it("artifact_paths become one text", () => {
    for (const given of ["a/*;b", ["a/*", "", "b"]])
      for (const name of ["artifact_paths", "artifacts"])
        assert.deepEqual(parsed({ command, [name]: given }), { command, artifact_paths: "a/*;b" });
    for (const given of ["", [], null])
      assert.deepEqual(parsed({ command, artifact_paths: given }), { command });
    refused({ artifact_paths: {} }, "Step artifact_paths must be text or a list of text");
    refused({ artifact_paths: [{}] }, "Step artifact_paths must be text or a list of text");
    refused({ artifacts: "x".repeat(16_385) }, "Step artifacts is too long (maximum is 16,384 characters)");
  });

  it("others are kept, but for null and empty text", () => {
    const others = { checkouts: "x", cache: {}, wait: "x" };
    for (const type of ["script", "command", "commands", null])
      assert.deepEqual(parsed({ command, type, ...others, unknown: null, blank: "" }), { command, others });
    for (const type of ["deploy", 7])
      refused({ type }, "Step type must be command, wait, block, input, trigger or group");
  });

  it("are all checked at once", () => {
    assert.equal(
      parsed({ label: {}, if: [], parallelism: -1 }),
      "Step label must be text, Step if must be text, " +
        "Step parallelism must be a whole number from 0 to 100, Step command can't be blank",
    );
    assert.equal(parsed({ label: {} }), "Step label must be text, Step command can't be blank");
  });

  it("may stand in a nested form", () => {
    assert.deepEqual(parsed({ command: { commands: ["a", "b"], label: "L" } }), {
      label: "L",
      command: "a\nb",
    });
    assert.deepEqual(parsed({ wait: { continue_on_failure: "true" } }), {
      type: "wait",
      continue_on_failure: true,
    });
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
      { waiter: null },
      { type: "waiter", continue_on_failure: false },
    ])
      assert.deepEqual(parsed(wait), { type: "wait" });
    assert.deepEqual(parsed({ wait: null, key: "k", depends_on: null, name: "L" }), {
      type: "wait",
      label: "L",
      key: "k",
      depends_on: [],
    });
    const goesOn = { type: "wait", continue_on_failure: true };
    assert.deepEqual(parsed({ wait: null, continue_on_failure: true }), goesOn);
    assert.equal(
      parsed({ wait: null, continue_on_failure: "always" }),
      "Step continue_on_failure must be true or false",
    );
    assert.deepEqual(parsed({ wait: null, command: "x" }), { command: "x" });
    assert.deepEqual(parsed({ type: "wait", command: "x" }), { type: "wait", others: { command: "x" } });
  });

  it("is no other text", () => {
    for (const text of ["make", "", "WAIT"]) assert.equal(parsed(text), "Steps must be objects");
    assert.equal(parsed({ toString: null }), "Step command can't be blank"); // cannot become a string
    assert.equal(parsed("trigger"), "Steps must be objects");
  });
});

describe("a group", () => {
  it("has a name by group, label or name, and steps", () => {
    const steps = [{ command }, "wait"];
    const stored = [{ command }, { type: "wait" }];
    for (const given of [
      { group: "G", label: "L" },
      { group: null, label: "G" },
      { type: "group", name: "G" },
    ])
      assert.deepEqual(parsed({ ...given, steps }), { type: "group", label: "G", steps: stored });
    for (const none of [{ group: null }, { group: "", steps: null }, { group: null, steps: [] }])
      assert.deepEqual(parsed(none), { type: "group", steps: [] });
    assert.equal(parsed({ group: {} }), "Step group must be text");
    assert.equal(parsed({ group: "G", steps: {} }), "steps[0].steps: Steps must be a list");
  });

  it("keeps what holds for its steps, and what does nothing", () => {
    const given = { key: "k", if: "true", depends_on: [], skip: "never", allow_dependency_failure: true };
    const others = { agents: { queue: "q" }, env: { A: 1 }, concurrency: 1, command: "x" };
    assert.deepEqual(parsed({ type: "group", ...given, ...others, steps: [] }), {
      type: "group",
      ...given,
      depends_on: [],
      steps: [],
      others,
    });
  });

  it("has no group in it", () => {
    assert.equal(
      parsed({ group: "G", steps: [{ command }, { group: "H", steps: [] }] }),
      "steps[0].steps[1].group: Step group cannot be in a group",
    );
  });
});

describe("a list of steps", () => {
  const refusal = (schema: typeof uploadedPipeline | typeof pipelineSteps, steps: unknown) =>
    schema
      .safeParse(schema === pipelineSteps ? steps : { steps })
      .error?.issues.map(({ message }) => message);

  it("may be empty, and be absent in an upload only", () => {
    for (const schema of [pipelineSteps, uploadedPipeline])
      for (const steps of [[], ["wait"]]) assert.equal(refusal(schema, steps), undefined);
    for (const none of [null, undefined]) {
      assert.deepEqual(refusal(pipelineSteps, none), ["Steps can't be blank"]);
      assert.equal(refusal(uploadedPipeline, none), undefined);
    }
  });

  it("says which of several steps has a problem, once", () => {
    const steps = [{ command, retry: true }, {}, { group: "G", steps: [{ soft_fail: [1.5, 1.5], command }] }];
    const messages = [
      "steps[0].retry: Step retry must be an object",
      "steps[1].command: Step command can't be blank",
      "steps[2].steps[0].soft_fail[0]: Step exit statuses must be whole numbers",
      "steps[2].steps[0].soft_fail[1]: Step exit statuses must be whole numbers",
    ];
    for (const schema of [pipelineSteps, uploadedPipeline])
      assert.deepEqual(refusal(schema, steps), messages);
    const paths = pipelineSteps.safeParse(steps).error?.issues.map(({ path }) => path.join("."));
    assert.deepEqual(paths?.slice(0, 2), ["0.retry", "1.command"]);
    assert.deepEqual(refusal(pipelineSteps, [{ command, retry: true }]), ["Step retry must be an object"]);
  });

  it("has each key once, groups too", () => {
    const used = 'The key "a" has already been used by another step in this build';
    const a = { command, key: "a" };
    assert.deepEqual(refusal(uploadedPipeline, [a, { wait: null, id: "a" }]), [`steps[1].key: ${used}`]);
    assert.deepEqual(refusal(pipelineSteps, [{ group: "G", key: "a", steps: [a] }]), [
      `steps[0].steps[0].key: ${used}`,
    ]);
  });

  it("has conditions for a shell if they are stored, where \\$ stands for $", () => {
    const steps = [{ command, if: "build.branch =~ /^release\\$/" }];
    assert.equal(refusal(pipelineSteps, steps), undefined);
    assert.equal(pipelineSteps.parse(steps)[0]?.if, steps[0]?.if);
  });

  it("has at most 500 steps, in a pipeline and in an upload", () => {
    for (const [schema, most] of [
      [pipelineSteps, 500],
      [uploadedPipeline, 500],
    ] as const) {
      assert.equal(refusal(schema, Array(most).fill({ command })), undefined);
      const message = `Steps can be ${most} at most`;
      assert.deepEqual(refusal(schema, Array(most + 1).fill({ command })), [message]);
      const group = { group: "G", steps: Array(most).fill({ command }) };
      assert.equal(refusal(schema, [group]), undefined);
      assert.deepEqual(refusal(schema, [group, { group: "H", steps: [] }]), [message]);
    }
  });

  it("becomes at most 2,000 jobs, of 16 MB in all", () => {
    const steps = (parallelism: number, amount: number) => Array(amount).fill({ command, parallelism });
    for (const schema of [pipelineSteps, uploadedPipeline]) {
      assert.equal(refusal(schema, steps(100, 20)), undefined);
      const tooMany = [...steps(100, 20), { command }];
      assert.deepEqual(refusal(schema, tooMany), ["Steps become more than 2,000 jobs"]);
      const matrix = Array.from({ length: 25 }, (_, index) => index);
      assert.deepEqual(refusal(schema, [...steps(100, 20), { command, matrix }]), [
        "Steps become more than 2,000 jobs",
      ]);
      const filled = { command: "{{matrix}}".repeat(6500), matrix: matrix.map((n) => `${n}`.repeat(64)) };
      assert.deepEqual(refusal(schema, [filled, filled]), ["Steps are too large for so many jobs"]);
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
      { wait: null, continue_on_failure: true, unknown: { a: [1] } },
      { type: "command", artifact_paths: "x", others: 1 },
      { command, agents: ["os=a", "os=b", "gpu"], depends_on: null, if: true, priority: "-1" },
      { command, matrix: ["a", 1], skip: "no", branches: ["a", "b"], depends_on: ["x", { step: 1 }] },
      {
        command,
        matrix: { setup: { os: [], v: [1] }, adjustments: [{ with: { os: "a", v: 2 }, soft_fail: false }] },
      },
      { group: "G", key: "g", agents: { a: 1 }, steps: [{ command, others: 1 }, "wait"] },
      {
        command,
        notify: ["github_check", { slack: "#a", irc: "b", if: "true" }, { email: "a@example.com" }],
      },
    ]);
    assert.deepEqual(pipelineSteps.parse(JSON.parse(JSON.stringify(writeSteps(steps)))), steps);
  });
});

describe("an uploaded pipeline", () => {
  const steps = [{ command }];
  const refusal = (given: unknown) => uploaded(given).error?.issues.map(({ message }) => message);
  const stepsOf = (given: unknown) => uploaded(given).data?.steps;

  it("is a list of steps, or an object that has it", () => {
    assert.deepEqual(uploaded(steps).data, { steps });
    assert.deepEqual(uploaded({ steps, common: [{}], name: "x", cache: {} }).data, { steps });
    for (const given of ["x", 1, null, undefined])
      assert.deepEqual(refusal(given), ["pipeline must be an object with steps"]);
    for (const given of [{}, [], { steps: null }]) assert.deepEqual(uploaded(given).data, { steps: [] });
  });

  it("has variables apart from its steps", () => {
    assert.deepEqual(uploaded({ env: { A: 1, B: null }, steps }).data, { steps, env: { A: "1", B: "" } });
    assert.deepEqual(refusal({ steps, env: { SIGNALBOX: "x" } }), [
      "env names cannot be SIGNALBOX or start with SIGNALBOX_, which every build sets itself",
    ]);
  });

  it("has agents that are merged into those of its commands by tag", () => {
    const own = { command, agents: { queue: "own", mem: 2 } };
    for (const agents of [{ queue: "all", os: "linux" }, ["queue=all", { os: "linux" }]])
      assert.deepEqual(stepsOf({ agents, steps: [own, { group: "G", steps }, "wait"] }), [
        { command, agents: { queue: "own", os: "linux", mem: "2" } },
        { type: "group", label: "G", steps: [{ command, agents: { queue: "all", os: "linux" } }] },
        { type: "wait" },
      ]);
    assert.deepEqual(refusal({ steps, agents: ["queue=a", "queue=b"] }), [
      "agents names more than one queue",
    ]);
    const tags = (letter: string) =>
      Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`${letter}-tag-${n}`, ""]));
    assert.deepEqual(refusal({ agents: tags("a"), steps: [{ command, agents: tags("b") }] }), [
      "agents are too large: the rules of a step have over 2,000 bytes",
    ]);
  });

  it("has a priority and an image for commands without their own", () => {
    const given = [{ command }, { command, priority: 0, image: "own" }, "wait"];
    assert.deepEqual(stepsOf({ steps: given, priority: "5", image: "all" }), [
      { command, priority: 5, image: "all" },
      { command, priority: 0, image: "own" },
      { type: "wait" },
    ]);
    assert.deepEqual(refusal({ steps, priority: "high" }), [
      "Step priority must be a whole number from -2,147,483,647 to 2,147,483,647",
    ]);
  });

  it("keeps what would change its steps and has no effect", () => {
    const others = { checkout: { ssh_secret: "KEY" }, notify: ["irc"] };
    assert.deepEqual(uploaded({ steps, ...others, cache: {} }).data, { steps, others });
    assert.deepEqual(uploaded({ steps, secrets: null }).data, { steps });
  });
});
