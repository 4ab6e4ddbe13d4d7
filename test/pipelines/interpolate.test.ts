// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of pipelines
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  estimateAddedCharacters,
  interpolate,
  interpolateEnvironment,
  interpolateSteps,
  namesVariables,
} from "../../shared/pipelines/interpolate.ts";

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

  it("are found in linear time, also where braces and defaults do not end", () => {
    const begun = process.cpuUsage();
    for (const text of ["${A:-", "${A-", "${A", "${A:1", "$$", "\\$"]) interpolate(text.repeat(16_000), read);
    const { user } = process.cpuUsage(begun);
    assert.ok(user < 500_000, `${user} µs of CPU`);
    assert.equal(interpolate("${NONE:-$A} $BRANCH ${A:-$BRANCH", read), "$A main ${A:-main");
  });

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

  it("in the variables of a document are replaced, by others of the document too", () => {
    const given = {
      A: "${A:-a}",
      BRANCH: "of-${BRANCH:-none}",
      B: "$A-$BRANCH-$C",
      C: "$COMMIT",
      ONE: "$TWO",
      TWO: "1$ONE",
      PRICE: "$$5",
    };
    assert.deepEqual(interpolateEnvironment(given, read), {
      A: "a",
      BRANCH: "of-main",
      B: "a-of-main-0123456789abcdef",
      C: "0123456789abcdef",
      ONE: "1",
      TWO: "1",
      PRICE: "$5",
    });
    const chain = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`V${n}`, `$V${n + 1}`.repeat(99)]),
    );
    assert.equal(interpolateEnvironment({ ...chain, V100: "x".repeat(300) }, read), undefined);
  });

  it("add a megabyte to the steps of a build at most: a small text could become a hundred times as large", () => {
    const long = () => "x".repeat(1000);
    const trigger = (places: number) => [
      { type: "trigger" as const, trigger: "t", build: { meta_data: { a: "$A".repeat(places) } } },
    ];
    const within = interpolateSteps(trigger(5000), long);
    assert.equal(JSON.stringify(within).match(/x/g)?.length, 5000 * 200);
    assert.equal(estimateAddedCharacters(trigger(5000)), 5000 * 200);
    assert.equal(interpolateSteps(trigger(6000), long), undefined);
    assert.equal(estimateAddedCharacters([{ command: "$A".repeat(6000) }]), 0);
  });

  it("make no label longer than one may be: each job of a parallel step has it", () => {
    const [step] = interpolateSteps([{ label: "$A$A", command: "" }], () => "x".repeat(200)) ?? [];
    assert.equal(step?.label?.length, 255);
  });
});
