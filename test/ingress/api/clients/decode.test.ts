import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pipelineSteps } from "../../../../shared/pipelines/steps.ts";
import { openApi } from "../../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { build, type GoType, pipeline, undecodable } from "./decode.ts";

/** Each member in each form that people write. */
const forms: Record<string, unknown[]> = {
  command: ["a", ["a", "b"], true, 7, ["a", ["b"]]],
  commands: ["a", ["a", 2]],
  name: ["n", 1, true],
  label: ["l", 2024],
  key: ["k", 1],
  type: ["script", "command"],
  agents: [{ queue: "default" }, ["queue=default", "os=linux"], "os=linux", { os: true }],
  agent_query_rules: [["queue=default"], "queue=default"],
  artifact_paths: ["a;b", ["a", "b"], 7],
  artifacts: ["a", ["a"]],
  branches: ["main", ["main", "x"]],
  branch_configuration: ["main", 7, ["main"]],
  env: [{ A: "1" }, { A: 1, B: true, C: null }],
  timeout_in_minutes: [5, "5", ""],
  timeout: [5, "5"],
  plugins: [
    "x#v1".split(","),
    ["a#v1", { "b#v1": { c: 1 } }, { "d#v1": null }],
    { "a#v1": { b: 1 }, "c#v1": null },
    [{ "a#v1": { b: 1 }, "c#v1": null }, {}],
    [{ "a#v1": ["x"] }, { "b#v1": "text" }, { "c#v1": 7 }, { "d#v1": false }],
  ],
  signature: [
    { value: "x", algorithm: "y", signed_fields: ["command"] },
    { value: 1, signed_fields: "x" },
  ],
  matrix: [["a", 1], { setup: { os: ["a"], v: [1] } }],
  parallelism: [2, "2"],
  soft_fail: [true, "true", 1, [{ exit_status: 1 }], "*"],
  retry: [{ automatic: true, manual: false }, { automatic: { exit_status: "*", limit: "2" } }],
  skip: [true, "why"],
  if: ["true", true],
  depends_on: ["other", ["other"], [{ step: "other", allow_failure: "yes" }], []],
  notify: ["x", [{ slack: "#a" }]],
  cache: ["a", ["a"], { paths: ["a"] }],
  unknown: [{}, [], 7],
};
/** A step of each kind, beside the member. */
const kinds: Record<string, object> = {
  command: { command: "make" },
  wait: { wait: null },
  block: { block: "Go?" },
  input: { input: "Name?", fields: [{ text: "T", key: "t" }] },
  trigger: { trigger: "web" },
  group: { group: "G", steps: [{ command: "x" }] },
};

describeWorldOn(sqlite, "the public Go client decodes", openApi, (api) => {
  const assertDecodes = (type: GoType, value: unknown) => assert.equal(undecodable(type, value), undefined);

  for (const [kind, step] of Object.entries(kinds))
    it(`every form of every member of a ${kind}, in pipelines and builds`, async () => {
      const other = { command: "o", key: "other" };
      const steps = Object.entries(forms)
        .flatMap(([name, values]) => values.map((value) => ({ ...step, [name]: value })))
        .filter((each) => pipelineSteps.safeParse([each]).success);
      assert.ok(steps.length > 40, `${steps.length} of the forms are accepted`);
      const made = await api.newPipeline({ steps: [other, ...steps] });
      const started = await api.send("POST", `/pipelines/${made.slug}/builds`, { body: {} });
      assert.equal(started.status, 201, started.text);

      assertDecodes(pipeline, made);
      assertDecodes(build, started.body);
      const { body } = await api.send("GET", "/builds");
      assertDecodes({ list: build }, body);
      assertDecodes({ list: pipeline }, (await api.send("GET", "/pipelines")).body);
    });
});

describe("the decoder", () => {
  it("refuses what Go refuses", () => {
    for (const [type, value] of [
      ["string", 1],
      ["int", 1.5],
      ["int", "1"],
      [{ list: "string" }, ["a", 1]],
      [{ map: "string" }, []],
      [{ struct: { a: "bool" } }, { a: "x" }],
      [pipeline, { steps: [{ plugins: ["a"] }] }],
      [pipeline, { steps: [{ plugins: [{ a: [] }] }] }],
      [pipeline, { steps: [{ plugins: [{}] }] }],
      [pipeline, { steps: [{ plugins: [{ a: {}, b: null }] }] }],
    ] as [GoType, unknown][])
      assert.ok(undecodable(type, value), JSON.stringify(value));
  });
});
