import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { uploadedPipeline } from "../../shared/pipelines/pipeline-document.ts";
import { commandsOf } from "../../shared/vocabulary.ts";

const command = "make";

function secretsOf(document: object): unknown[] {
  return commandsOf(uploadedPipeline.parse(document).steps).map(({ secrets }) => secrets);
}

function refusal(secrets: unknown): string[] {
  const { error } = uploadedPipeline.safeParse({ steps: [{ command, secrets }] });
  return error?.issues.map(({ message }) => message) ?? [];
}

const secret = (key: string, environment_variable = key) => ({ key, environment_variable });

describe("the secrets of a step", () => {
  it("are keys, objects, or a map from variables to keys", () => {
    const forms = [
      ["A", "b_2"],
      [{ key: "A" }, { key: "b_2", environment_variable: null }],
      { A: "A", b_2: "b_2" },
    ];
    for (const secrets of forms)
      assert.deepEqual(secretsOf({ steps: [{ command, secrets }] }), [[secret("A"), secret("b_2")]]);
    assert.deepEqual(secretsOf({ steps: [{ command, secrets: { TOKEN: "A" } }] }), [[secret("A", "TOKEN")]]);
    assert.deepEqual(secretsOf({ steps: [{ command, secrets: [secret("A", "TOKEN")] }] }), [
      [secret("A", "TOKEN")],
    ]);
    for (const secrets of [null, [], {}])
      assert.deepEqual(secretsOf({ steps: [{ command, secrets }] }), [undefined]);
  });

  it("are those of the document too, and win by their variable", () => {
    const steps = [
      { command },
      { command, secrets: { TOKEN: "OWN", MORE: "MORE" } },
      { group: "G", steps: [{ command }] },
      "wait",
    ];
    const all = [secret("ALL", "TOKEN"), secret("B")];
    assert.deepEqual(secretsOf({ secrets: { TOKEN: "ALL", B: "B" }, steps }), [
      all,
      [secret("B"), secret("OWN", "TOKEN"), secret("MORE")],
      all,
    ]);
  });

  it("stay in their order, as agents may have signed it, if the document has no others", () => {
    const own = [secret("B"), secret("A")];
    assert.deepEqual(secretsOf({ secrets: ["A", "B"], steps: [{ command, secrets: own }] }), [own]);
  });

  it("set no variable of the server's, but for two kinds of tokens", () => {
    for (const name of ["BUILDKITE_TOKEN", "BK", "bk_x", "SIGNALBOX_X", "A-B", "1A", "", "A=B"])
      assert.deepEqual(
        refusal([{ key: "A", environment_variable: name }]),
        [`Step secrets cannot set the variable ${JSON.stringify(name)}`],
        name,
      );
    for (const name of ["BUILDKITE_API_TOKEN", "BUILDKITE_ANALYTICS_TOKEN", "_A"])
      assert.deepEqual(refusal([{ key: "A", environment_variable: name }]), [], name);
  });

  it("are refused in other forms", () => {
    const form = "Step secrets must be a list of keys, or a map from variables to keys";
    for (const secrets of ["A", 7, [["A"]], [{}], { A: 7 }, { A: null }, [{ key: 7 }]])
      assert.deepEqual(refusal(secrets), [form], JSON.stringify(secrets));
    for (const key of ["", "A-B", "{{matrix}}", "a".repeat(256), "1"])
      assert.match(refusal([key])[0] ?? "", /^Step secrets cannot have the key "/);
    assert.deepEqual(refusal(Array.from({ length: 101 }, (_, n) => `K${n}`)), [
      "Step secrets can be 100 at most",
    ]);
    assert.deepEqual(
      uploadedPipeline.safeParse({ secrets: "A", steps: [] }).error?.issues[0]?.message,
      form.replace("Step ", ""),
    );
  });
});
