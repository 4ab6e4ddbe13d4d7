// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of pipelines
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { interpolate, interpolateSteps, namesVariables } from "../../shared/pipelines/interpolate.ts";

const values: Record<string, string> = { BRANCH: "main", COMMIT: "0123456789abcdef", EMPTY: "" };
const read = (name: string) => values[name] ?? null;

describe("the variables of stored steps", () => {
  const rows: [text: string, replaced: string][] = [
    ["on $BRANCH", "on main"],
    ["on ${BRANCH}!", "on main!"],
    ["${COMMIT:0:7}", "0123456"],
    ["${COMMIT:10}", "abcdef"],
    ["${COMMIT:-3}", "0123456789abcdef"],
    ["${NONE:-none}, ${EMPTY:-none}, ${EMPTY-none}, ${NONE-none}", "none, none, , none"],
    ["$NONE and ${NONE}", " and "],
    ["$$BRANCH costs $5, \\$BRANCH $", "$BRANCH costs $5, $BRANCH $"],
    ["${1} ${} ${BRANCH", "${1} ${} ${BRANCH"],
  ];
  for (const [text, replaced] of rows)
    it(`${text} becomes ${JSON.stringify(replaced)}`, () => assert.equal(interpolate(text, read), replaced));

  it("are replaced in labels, keys, dependencies and agents, and left to the shell in commands", () => {
    const step = { label: "l $BRANCH", key: "k-$BRANCH", command: "echo $HOME", env: { A: "$BRANCH" } };
    const behind = {
      command: "",
      depends_on: [{ step: "k-$BRANCH" }],
      agents: { queue: "$BRANCH", os: ["$BRANCH", "*"] },
    };
    assert.ok(namesVariables([{ type: "group", steps: [behind] }]));
    assert.equal(namesVariables([{ command: "echo $HOME", env: { A: "$A" } }]), false);
    assert.deepEqual(interpolateSteps([step, { type: "group", label: "$BRANCH", steps: [behind] }], read), [
      { ...step, label: "l main", key: "k-main" },
      {
        type: "group",
        label: "main",
        steps: [
          { ...behind, depends_on: [{ step: "k-main" }], agents: { queue: "main", os: ["main", "*"] } },
        ],
      },
    ]);
  });
});
