import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findBlockers } from "../../shared/graph/blockers.ts";
import type { JobStanding } from "../../shared/graph/progress.ts";
import { stagesOf } from "../../shared/graph/stages.ts";
import { isStep } from "../../shared/graph/tree.ts";
import type { JobState, Node, StepNode } from "../../shared/vocabulary.ts";

const step = (key: string, more: Partial<StepNode> = {}): StepNode => ({ id: `id of ${key}`, key, ...more });
const wait = (key: string, more: Partial<StepNode> = {}): StepNode => step(key, { wait: true, ...more });
const after = (...keys: string[]) => ({ dependsOn: keys.map((key) => ({ step: key })) });
const group = (key: string, steps: Node[], more = {}): Node => ({
  id: `id of ${key}`,
  key,
  label: null,
  ...more,
  steps,
});
const upload = (key: string, steps: Node[]): Node => ({
  uploadedBy: { step: `id of ${key}`, job: `job of ${key}` },
  steps,
});
const diamond = [step("a"), step("b", after("a")), step("c", after("a")), step("d", after("b", "c"))];

const namesOf = (steps: StepNode[]) => steps.map(({ key }) => key).join(" ");
const isNoGate = ({ wait, manual }: StepNode) => !wait && !manual;

/** `a | b c | d`, groups as `g(b c)`. */
function stages(tree: Node[], isShown = isNoGate): string {
  return stagesOf(tree, isShown)
    .stages.map((items) =>
      items
        .map((item) => (item.group ? `${item.group.key}(${namesOf(item.steps)})` : namesOf(item.steps)))
        .join(" "),
    )
    .join(" | ");
}

describe("the stages of a build", () => {
  it("are steps behind the last one that they need", () => {
    assert.equal(stages(diamond), "a | b c | d");
    assert.equal(stages([...diamond, step("e", after("a", "d")), step("f")]), "a f | b c | d | e");
  });

  it("are cut by waits, which take no stage", () => {
    assert.equal(stages([step("a"), step("b"), wait("w"), wait("v"), step("c")]), "a b | c");
    assert.equal(stages([wait("w"), step("a"), wait("v")]), "a");
  });

  it("take no notice of waits that were left out", () => {
    const tree = [step("a"), step("w"), step("b")];
    assert.equal(
      stages(tree, ({ key }) => key !== "w"),
      "a b",
    );
  });

  it("have groups whole, in the stage of their first step, and no stage without items", () => {
    const inner = [step("b"), wait("v"), step("c")];
    assert.equal(stages([step("a"), wait("w"), group("g", inner), step("d", after("g"))]), "a | g(b c) | d");
    assert.equal(stages([group("g", [step("b", after("c")), step("c")])]), "g(c b)");
    assert.equal(stages([group("g", []), step("a")]), "a");
  });

  it("have uploaded steps behind the step that uploads them, in its group", () => {
    assert.equal(
      stages([step("u"), upload("u", [step("a")]), step("b"), wait("w"), step("c")]),
      "u b | a | c",
    );
    assert.equal(
      stages([group("g", [step("u"), upload("u", [step("a")])]), step("b", after("u"))]),
      "g(u a) | b",
    );
  });

  it("have waits, blocks and inputs before and between them, and behind the last one", () => {
    const gates = (tree: Node[]) => stagesOf(tree, isNoGate).gates.map(namesOf);
    const block = (key: string) => wait(key, { manual: true });
    const input = step("i", { manual: true });

    assert.deepEqual(gates([block("x"), step("a"), wait("w"), block("y"), step("b"), wait("v")]), [
      "x",
      "w y",
      "v",
    ]);
    assert.deepEqual(gates([input, step("a")]), ["i", ""]);
    assert.deepEqual(gates([step("a"), step("b", after("a")), step("c", after("b"))]), ["", "", "", ""]);
    assert.deepEqual(gates([step("a"), group("g", [step("b"), wait("v"), block("x"), step("c")])]), [
      "",
      "x",
    ]);
    assert.deepEqual(gates([group("g", [step("b", after("c")), step("c")]), block("x"), step("d")]), [
      "",
      "x",
      "",
    ]);
  });

  it("end with steps that wait for each other", () => {
    assert.equal(stages([step("a", after("b")), step("b", after("a")), step("c")]), "c | a b");
  });
});

describe("blockers", () => {
  const jobsOf = (tree: Node[], states: Record<string, JobState>): JobStanding[] =>
    tree.flatMap((node): JobStanding[] => {
      if (!isStep(node)) return jobsOf(node.steps, states);
      const { id, key = "" } = node;
      const more = { softFailed: false, retriedInJobId: null };
      return [{ id: `job of ${key}`, stepId: id, state: states[key] ?? "waiting", ...more }];
    });
  const blocking = (tree: Node[], key: string, states: Record<string, JobState> = {}, limit = 9) => {
    const found = findBlockers(tree, jobsOf(tree, states), limit).get(`id of ${key}`);
    const names = found?.stepIds.map((id) => id.replace("id of ", "")) ?? [];
    return [
      ...names,
      ...(found?.missingKeys.map((each) => `${each}?`) ?? []),
      ...(found?.hasMore ? ["…"] : []),
    ].join(" ");
  };

  it("are the nearest steps that have not ended", () => {
    assert.equal(blocking(diamond, "d", { a: "running" }), "b c");
    assert.equal(blocking(diamond, "d", { a: "passed", b: "passed", c: "running" }), "c");
    assert.equal(blocking(diamond, "b", { a: "failed" }), "");
  });

  it("are found through waits and groups", () => {
    const tree = [step("a"), group("g", [step("b"), wait("v"), step("c")]), wait("w"), step("d")];
    assert.equal(blocking(tree, "d", { a: "running", b: "running" }), "a c");
    assert.equal(blocking(tree, "c", { a: "running", b: "running" }), "b");
    assert.equal(
      blocking([...tree, step("e", after("g"))], "e", { a: "running", b: "passed", v: "passed" }),
      "c",
    );
    assert.equal(blocking([step("a"), group("g", [step("b")], after("a"))], "b", { a: "running" }), "a");
  });

  it("are not those that other blockers wait for", () => {
    const tree = [step("a"), wait("w"), step("b"), step("c"), wait("v"), step("d")];
    assert.equal(blocking(tree, "d", { a: "running" }), "b c");
    assert.equal(blocking([...diamond, wait("w"), step("e")], "e", { a: "running" }), "d");
  });

  it("are the uploader of a step, and what it uploads", () => {
    const tree = [step("u"), upload("u", [step("a")]), step("b", after("u"))];
    assert.equal(blocking(tree, "a", { u: "running" }), "u");
    assert.equal(blocking(tree, "b", { u: "passed", a: "running" }), "a");
  });

  it("are the retry of an uploader", () => {
    const tree = [step("u"), upload("u", [step("a")])];
    const ofStep = { stepId: "id of u", softFailed: false };
    const jobs: JobStanding[] = [
      { id: "job of u", ...ofStep, state: "failed", retriedInJobId: "retry" },
      { id: "retry", ...ofStep, state: "running", retriedInJobId: null },
    ];
    assert.deepEqual(findBlockers(tree, jobs, 9).get("id of a")?.stepIds, ["id of u"]);
  });

  it("are keys that no step has, of the step and of its group", () => {
    assert.equal(blocking([step("a"), step("b", after("a", "x"))], "b", { a: "running" }), "a x?");
    assert.equal(blocking([group("g", [step("a", after("y"))], after("x"))], "a"), "y? x?");
  });

  it("are named up to a limit", () => {
    const tree = [..."abcdef"].map((key) => step(key));
    assert.equal(blocking([...tree, wait("w"), step("g")], "g", {}, 3), "a b c …");
    assert.equal(blocking([...tree.slice(3), wait("w"), step("g")], "g", {}, 3), "d e f");
  });
});
