import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseConfiguration } from "../../shared/pipelines/configuration/parse.ts";
import { uploadedPipeline } from "../../shared/pipelines/pipeline-document.ts";
import { wordsOfStep } from "../../shared/pipelines/step/members.ts";
import { ineffectiveMembers, warningsOf } from "../../shared/pipelines/warnings.ts";
import { writeSteps } from "../../shared/pipelines/written-steps.ts";
import { commandsOf } from "../../shared/vocabulary.ts";

const command = "make";

function checkoutsOf(document: object): unknown[] {
  return commandsOf(uploadedPipeline.parse(document).steps).map(({ checkout }) => checkout);
}

function checkoutOf(checkout: unknown): unknown {
  return checkoutsOf({ steps: [{ command, checkout }] })[0];
}

function problems(document: unknown): string[] {
  return uploadedPipeline.safeParse(document).error?.issues.map(({ message }) => message) ?? [];
}

const refusal = (checkout: unknown) => problems([{ command, checkout }]);

const whole = {
  skip: false,
  submodules: true,
  lfs: false,
  depth: 50,
  flags: { clone: "--filter=blob:none", fetch: "-v --prune", checkout: "", clean: "-ffdx -e '*.log'" },
  sparse: { paths: [".ci/", "src/"] },
  commit_verification: "strict",
  ssh_secret: "DEPLOY_KEY",
};

describe("the checkout of a step", () => {
  it("is stored as it is written, and can be sent again", () => {
    const { steps } = uploadedPipeline.parse([{ command, checkout: whole }]);

    assert.deepEqual(steps, [{ command, checkout: whole }]);
    assert.deepEqual(uploadedPipeline.parse(writeSteps(steps)).steps, steps);
  });

  it("takes booleans and numbers as text, and one path as text", () => {
    const texts = { skip: "true", submodules: "false", lfs: "true", depth: "3", sparse: { paths: "src/" } };
    assert.deepEqual(checkoutOf(texts), {
      skip: true,
      submodules: false,
      lfs: true,
      depth: 3,
      sparse: { paths: ["src/"] },
    });
    assert.deepEqual(checkoutOf({ sparse: { paths: ["a", " ", "b"] } }), { sparse: { paths: ["a", "b"] } });
    for (const given of ["strict", "warn", "off", ""])
      assert.deepEqual(checkoutOf({ commit_verification: given }), { commit_verification: given });
    assert.deepEqual(checkoutOf({ commit_verification: false }), { commit_verification: "off" });
  });

  it("is absent if nothing is in it", () => {
    const names = Object.keys(whole);
    const nulls = Object.fromEntries(names.map((name) => [name, null]));
    for (const given of [null, {}, nulls, { flags: {} }, { flags: { clone: null } }, { sparse: {} }])
      assert.equal(checkoutOf(given), undefined, JSON.stringify(given));
  });

  it("is refused in other forms, by the name of the member", () => {
    const cases: [unknown, string][] = [
      ["x", "Step checkout must be an object"],
      [[], "Step checkout must be an object"],
      [{ skip: 1 }, "Step checkout.skip must be true or false"],
      [{ submodules: "always" }, "Step checkout.submodules must be true or false"],
      [{ lfs: "x" }, "Step checkout.lfs must be true or false"],
      [{ flags: "-v" }, "Step checkout.flags must be an object"],
      [{ flags: { clean: {} } }, "Step checkout.flags.clean must be text"],
      [{ flags: { fetch: "\0" } }, "Step checkout.flags.fetch must be text without NUL"],
      [{ sparse: ["src"] }, "Step checkout.sparse must be an object"],
      [{ sparse: { paths: {} } }, "Step checkout.sparse.paths must be text or a list of text"],
      [{ sparse: { paths: ["a", {}] } }, "Step checkout.sparse.paths must be text or a list of text"],
      [{ commit_verification: "always" }, "Step checkout.commit_verification must be strict, warn or off"],
      [{ commit_verification: true }, "Step checkout.commit_verification must be strict, warn or off"],
      [{ ssh_secret: { key: "A" } }, "Step checkout.ssh_secret must be text"],
    ];
    for (const [given, message] of cases) assert.deepEqual(refusal(given), [message], JSON.stringify(given));
    for (const depth of [0, -1, 1.5, "all", true, "0", 2 ** 31])
      assert.deepEqual(refusal({ depth }), [
        "Step checkout.depth must be a whole number from 1 to 2,147,483,647",
      ]);
    for (const key of ["", "A-B", "1A", "{{matrix}}", "BUILDKITE_KEY", "bk_key", "a".repeat(256)])
      assert.deepEqual(refusal({ ssh_secret: key }), [
        "Step checkout.ssh_secret must be the key of a secret",
      ]);
  });

  it("has bounds", () => {
    assert.deepEqual(refusal({ flags: { clone: "x".repeat(4097) } }), [
      "Step checkout.flags.clone is too long (maximum is 4,096 characters)",
    ]);
    const long = "Step checkout.sparse.paths is too long (maximum is 16,384 characters)";
    for (const paths of ["x".repeat(16_385), Array.from({ length: 2000 }, () => "folder/of/it")])
      assert.deepEqual(refusal({ sparse: { paths } }), [long]);
  });

  it("names the step of a problem, in a group too", () => {
    const checkout = { flags: { clone: {} } };
    const message = "Step checkout.flags.clone must be text";
    assert.deepEqual(problems([{ command }, { command, checkout }]), [
      `steps[1].checkout.flags.clone: ${message}`,
    ]);
    assert.deepEqual(problems([{ group: "G", steps: [{ command, checkout: { depth: 0 } }] }]), [
      "steps[0].steps[0].checkout.depth: Step checkout.depth must be a whole number from 1 to 2,147,483,647",
    ]);
  });

  it("is read in YAML, whose problems say line and column", () => {
    const yaml = "steps:\n- command: make\n  checkout:\n    skip: true\n    commit_verification: off\n";
    const read = parseConfiguration(yaml);
    assert.deepEqual("pipeline" in read && read.pipeline.steps, [
      { command, checkout: { skip: true, commit_verification: "off" } },
    ]);
    const wrong = parseConfiguration(yaml.replace("skip: true", "skip: maybe"));
    assert.match(
      "problems" in wrong ? (wrong.problems[0]?.message ?? "") : "",
      /^configuration: line 4, column \d+: Step checkout\.skip must be true or false$/,
    );
  });

  it("keeps members that nothing reads, which are warnings", () => {
    const checkout = {
      depth: 1,
      mirror: true,
      none: null,
      flags: { clone: "-v", push: "-f" },
      sparse: { cone: 1 },
    };
    const { steps } = uploadedPipeline.parse([
      { command, label: "L", checkout },
      { wait: null, checkout: {} },
    ]);

    assert.deepEqual(steps[0], {
      command,
      label: "L",
      checkout: { depth: 1, flags: { clone: "-v" } },
      others: { checkout: { mirror: true, flags: { push: "-f" }, sparse: { cone: 1 } } },
    });
    assert.deepEqual(
      warningsOf(steps).map(({ member }) => member),
      ["checkout.flags.push", "checkout.sparse.cone", "checkout.mirror", "checkout"],
    );
    const { none: _, ...written } = checkout;
    assert.deepEqual(writeSteps(steps)[0], { command, label: "L", checkout: written });
    assert.deepEqual(uploadedPipeline.parse(writeSteps(steps)).steps, steps);
  });

  it("may hold only members that nothing reads", () => {
    const { steps } = uploadedPipeline.parse([{ command, checkout: { mirror: true } }]);
    assert.deepEqual(steps, [{ command, others: { checkout: { mirror: true } } }]);
    assert.deepEqual(writeSteps(steps), [{ command, checkout: { mirror: true } }]);
  });

  it("of a matrix has its values", () => {
    const { steps } = uploadedPipeline.parse([
      { command, matrix: ["a", "b"], checkout: { sparse: { paths: ["{{matrix}}/"] } } },
    ]);
    assert.deepEqual(commandsOf(steps)[0]?.checkout?.sparse, { paths: ["{{matrix}}/"] });
  });

  it("is said in words", () => {
    assert.deepEqual(wordsOfStep({ command, checkout: { skip: true, depth: 1 } }), ["without checkout"]);
    const checkout = { depth: 1, flags: { clone: "-v" }, sparse: { paths: ["a", "b"] } };
    assert.deepEqual(wordsOfStep({ command, checkout }), [
      "checked out with depth 1, flags.clone -v, sparse.paths a,b",
    ]);
  });
});

describe("the checkout of a document", () => {
  it("is that of its commands, whose own members win one by one", () => {
    const all = {
      submodules: false,
      depth: 10,
      flags: { clone: "-v", clean: "-x" },
      sparse: { paths: ["a"] },
    };
    const steps = [
      { command },
      { command, checkout: { submodules: true, flags: { clone: "-q" }, sparse: { paths: ["b"] } } },
      { group: "G", steps: [{ command, checkout: { skip: true, depth: null, sparse: { paths: [] } } }] },
      "wait",
      { trigger: "other" },
    ];
    assert.deepEqual(checkoutsOf({ checkout: all, steps }), [
      all,
      { submodules: true, depth: 10, flags: { clone: "-q", clean: "-x" }, sparse: { paths: ["b"] } },
      { ...all, skip: true, sparse: { paths: [] } },
    ]);
  });

  it("gives no step its ssh_secret, which is a warning", () => {
    const given = { ssh_secret: "KEY", depth: 1, mirror: true };
    const steps = [{ command }, { command, checkout: { ssh_secret: "OWN" } }];
    const { steps: parsed, others } = uploadedPipeline.parse({ checkout: given, steps });

    assert.deepEqual(
      commandsOf(parsed).map(({ checkout }) => checkout),
      [{ depth: 1 }, { depth: 1, ssh_secret: "OWN" }],
    );
    assert.deepEqual(warningsOf(parsed, ineffectiveMembers(others)), [
      { step: null, member: "checkout.mirror" },
      { step: null, member: "checkout.ssh_secret" },
    ]);
  });

  it("is refused as that of a step is", () => {
    const steps = [{ command }];
    assert.deepEqual(problems({ steps, checkout: "x" }), ["checkout must be an object"]);
    assert.deepEqual(problems({ steps, checkout: { flags: { clone: {} } } }), [
      "checkout.flags.clone must be text",
    ]);
    assert.deepEqual(problems({ steps, checkout: null }), []);
  });
});
