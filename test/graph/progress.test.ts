import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decideProgress, findCircle, type JobStanding } from "../../shared/graph/progress.ts";
import { isStep } from "../../shared/graph/tree.ts";
import type { JobState, Node, StepNode } from "../../shared/vocabulary.ts";

const step = (key: string, more: Partial<StepNode> = {}): StepNode => ({ id: `id of ${key}`, key, ...more });
const after = (...keys: string[]) => ({ dependsOn: keys.map((key) => ({ step: key })) });
const afterFailureOf = (key: string) => ({ dependsOn: [{ step: key, allow_failure: true }] });
const wait = (key: string, more: Partial<StepNode> = {}) => step(key, { wait: true, ...more });
const forgivingWait = (key: string) => wait(key, { continueOnFailure: true });
const group = (key: string, steps: Node[], more: object = {}): Node => ({
  ...{ id: `id of ${key}`, key, label: key, steps },
  ...more,
});
const upload = (by: string, steps: Node[]): Node => ({
  uploadedBy: { step: `id of ${by}`, job: `job of ${by}` },
  steps,
});

type State = JobState | "softly failed";

/** A job for each step. Those without a state wait. */
function jobsOf(tree: Node[], states: Record<string, State>): JobStanding[] {
  return tree.flatMap((node) => {
    if (!isStep(node)) return jobsOf(node.steps, states);
    const given = states[node.key ?? ""] ?? "waiting";
    const softFailed = given === "softly failed";
    const state = softFailed ? "failed" : given;
    return [{ id: `job of ${node.key}`, stepId: node.id, state, softFailed, retriedInJobId: null }];
  });
}

/** Returns what becomes of the waiting steps: `b starts, c fails`. */
function decided(tree: Node[], states: Record<string, State> = {}): string {
  const { reached, failed } = decideProgress(tree, jobsOf(tree, states));
  const words = (ids: Set<string>, verb: string) =>
    [...ids].map((id) => `${id.replace("id of ", "")} ${verb}`);
  return [...words(reached, "starts"), ...words(failed, "fails")].sort().join(", ");
}

describe("the end of a dependency", () => {
  const forgiving = step("b", afterFailureOf("a"));
  const allowing = step("b", { ...after("a"), allowDependencyFailure: true });
  const ends: [State, plain: string, forgiven: string][] = [
    ["passed", "b starts", "b starts"],
    ["softly failed", "b starts", "b starts"],
    ["broken", "b starts", "b starts"],
    ["failed", "b fails", "b starts"],
    ["timed_out", "b fails", "b starts"],
    ["expired", "b fails", "b starts"],
    ["waiting_failed", "b fails", "b starts"],
    ["canceled", "b fails", "b fails"],
    ["scheduled", "", ""],
    ["assigned", "", ""],
    ["running", "", ""],
    ["canceling", "", ""],
    ["timing_out", "", ""],
  ];
  for (const [end, plain, forgiven] of ends)
    it(`${end}: ${plain || "nothing yet"}; with allow_failure ${forgiven || "nothing yet"}`, () => {
      assert.equal(decided([step("a"), step("b", after("a"))], { a: end }), plain);
      assert.equal(decided([step("a"), forgiving], { a: end }), forgiven);
      assert.equal(decided([step("a"), allowing], { a: end }), forgiven);
      const behindWait = decided([step("a"), forgivingWait("w"), step("b")], { a: end });
      assert.equal(behindWait, forgiven && (end === "canceled" ? "b fails, w fails" : "b starts, w starts"));
    });

  it("to be retried: open until the new job has ended", () => {
    const tree = [step("a"), step("b", after("a"))];
    const retried: JobStanding = {
      ...{ id: "first", stepId: "id of a", state: "failed", softFailed: false },
      retriedInJobId: "job of a",
    };
    const decide = (state: State) => [
      ...decideProgress(tree, [retried, ...jobsOf(tree, { a: state })]).reached,
    ];
    assert.deepEqual(decide("running"), []);
    assert.deepEqual(decide("passed"), ["id of b"]);
  });
});

describe("the order of a list", () => {
  it("a step waits for the waits before it, a wait for all steps before it", () => {
    const tree = [step("a"), step("b"), wait("w"), step("c"), wait("v"), step("d")];
    assert.equal(decided(tree, {}), "a starts, b starts");
    assert.equal(decided(tree, { a: "passed", b: "running" }), "");
    assert.equal(decided(tree, { a: "passed", b: "passed" }), "c starts, w starts");
    assert.equal(decided(tree, { a: "passed", b: "passed", w: "passed", c: "passed" }), "d starts, v starts");
  });

  it("waits with nothing before them, or beside each other, add nothing", () => {
    assert.equal(decided([wait("w"), wait("v"), step("a")]), "a starts, v starts, w starts");
  });

  it("after a failure a wait stops all that follows, forgiving waits too", () => {
    const tree = [step("a"), wait("w"), step("b"), forgivingWait("v"), step("c")];
    assert.equal(decided(tree, { a: "failed" }), "b fails, c fails, v fails, w fails");
  });

  it("a wait is decided once the steps before it have ended", () => {
    assert.equal(decided([step("a"), step("b"), wait("w")], { a: "failed", b: "running" }), "");
  });

  it("continue_on_failure forgives the steps since the wait before it; a plain wait counts them again", () => {
    const tree = [
      step("a"),
      forgivingWait("w"),
      step("b"),
      forgivingWait("v"),
      step("c"),
      wait("u"),
      step("d"),
    ];
    const states = { a: "failed", w: "passed", b: "passed" } as const;
    assert.equal(decided(tree, { a: "failed" }), "b starts, w starts");
    assert.equal(decided(tree, states), "c starts, v starts");
    assert.equal(decided(tree, { ...states, v: "passed", c: "passed" }), "d fails, u fails");
  });

  it("a step that was left out holds nothing back, and a wait that was left out is none", () => {
    const tree = [step("a"), step("left out"), step("w"), step("b")];
    assert.equal(decided(tree, { "left out": "broken", w: "broken" }), "a starts, b starts");
  });

  it("an empty depends_on starts at once, and a wait with depends_on still holds back what follows", () => {
    assert.equal(decided([step("a"), wait("w"), step("b", after())], { a: "running" }), "b starts");
    const tree = [step("a"), step("b"), wait("w", after("a")), step("c")];
    assert.equal(decided(tree, { a: "passed", b: "running" }), "c starts, w starts");
    assert.equal(decided(tree, { a: "running", b: "running" }), "");
  });

  it("allow_dependency_failure goes on behind a wait that failed", () => {
    const tree = [step("a"), wait("w"), step("b", { allowDependencyFailure: true })];
    assert.equal(decided(tree, { a: "failed" }), "b starts, w fails");
    assert.equal(decided(tree, { a: "canceled" }), "b starts, w fails");
  });
});

describe("groups", () => {
  it("in a row run side by side; their waits bind their own steps", () => {
    const tree = [group("g", [step("a"), wait("w"), step("b")]), group("h", [step("c")])];
    assert.equal(decided(tree), "a starts, c starts");
    assert.equal(decided(tree, { a: "passed", c: "running" }), "b starts, w starts");
  });

  it("wait for what is before them, and are waited for as a whole", () => {
    const tree = [step("a"), wait("w"), group("g", [step("b"), step("c")]), wait("v"), step("d")];
    assert.equal(decided(tree, { a: "running" }), "");
    assert.equal(decided(tree, { a: "passed" }), "b starts, c starts, w starts");
    assert.equal(decided(tree, { a: "passed", w: "passed", b: "passed", c: "running" }), "");
    assert.equal(decided(tree, { a: "passed", w: "passed", b: "passed", c: "passed" }), "d starts, v starts");
  });

  it("have a key that stands for all their steps", () => {
    const tree = [group("g", [step("a"), step("b")]), step("c", after("g")), step("d", afterFailureOf("g"))];
    assert.equal(decided(tree, { a: "passed", b: "running" }), "");
    assert.equal(decided(tree, { a: "failed", b: "running" }), "c fails");
    assert.equal(decided(tree, { a: "failed", b: "passed" }), "c fails, d starts");
    assert.equal(decided([group("g", []), step("c", after("g"))]), "c starts");
  });

  it("have dependencies that hold for each of their steps, in the place of the waits before them", () => {
    const inner = [step("b"), step("c", after("x")), wait("v"), step("d")];
    const tree = [step("x"), step("a"), wait("w"), group("g", inner, after("a"))];
    assert.equal(decided(tree, { x: "running", a: "passed" }), "b starts");
    assert.equal(decided(tree, { x: "passed", a: "running" }), "");
    assert.equal(decided(tree, { x: "running", a: "failed" }), "b fails, c fails, d fails, v fails");
  });

  it("allow failures for all their steps", () => {
    const allowing = { ...after("a"), allowDependencyFailure: true };
    assert.equal(decided([step("a"), group("g", [step("b")], allowing)], { a: "failed" }), "b starts");
    assert.equal(decided([step("a"), group("g", [step("b")], allowing)], { a: "canceled" }), "b fails");
  });
});

describe("uploaded steps", () => {
  it("start when their job has passed, and with depends_on they do not wait for it", () => {
    const tree = [step("u"), upload("u", [step("a"), step("b", after())])];
    assert.equal(decided(tree, { u: "running" }), "b starts");
    assert.equal(decided(tree, { u: "passed" }), "a starts, b starts");
    assert.equal(decided(tree, { u: "failed" }), "a fails, b starts");
  });

  it("are waited for by all who wait for their job's step, at any depth", () => {
    const tree = [
      step("u"),
      upload("u", [step("v"), upload("v", [step("a")])]),
      step("b", after("u")),
      wait("w"),
      step("c"),
    ];
    assert.equal(decided(tree, { u: "passed", v: "running" }), "");
    assert.equal(decided(tree, { u: "passed", v: "passed", a: "running" }), "");
    assert.equal(decided(tree, { u: "passed", v: "passed", a: "passed" }), "b starts");
    assert.equal(decided(tree, { u: "passed", v: "passed", a: "failed" }), "b fails, c fails, w fails");
  });

  it("may name the step that uploaded them", () => {
    assert.equal(decided([step("u"), upload("u", [step("a", after("u"))])], { u: "passed" }), "a starts");
  });

  it("have waits that cut only themselves; what is behind them waits for all of them", () => {
    const tree = [step("u"), upload("u", [step("a"), wait("w"), step("b")]), step("c"), wait("v"), step("d")];
    assert.equal(decided(tree, { u: "passed", c: "passed", a: "running" }), "");
    assert.equal(decided(tree, { u: "passed", c: "passed", a: "passed" }), "b starts, w starts");
    const all = { u: "passed", c: "passed", a: "passed", w: "passed", b: "passed" } as const;
    assert.equal(decided(tree, all), "d starts, v starts");
  });

  it("wait for the retry of their job", () => {
    const tree = [step("u"), upload("u", [step("a")])];
    const ofStep = { stepId: "id of u", softFailed: false };
    const waiting = jobsOf(tree, { u: "passed" }).slice(1);
    const decide = (state: JobState) =>
      decideProgress(tree, [
        { id: "job of u", ...ofStep, state: "failed", retriedInJobId: "retry" },
        { id: "retry", ...ofStep, state, retriedInJobId: null },
        ...waiting,
      ]);
    assert.deepEqual([...decide("running").reached], []);
    assert.deepEqual([...decide("passed").reached], ["id of a"]);
    assert.deepEqual([...decide("failed").failed], ["id of a"]);
  });
});

describe("keys that no step has", () => {
  it("hold back while anything runs, and fail when nothing else can", () => {
    const tree = [step("a"), step("b", after("none")), step("c", afterFailureOf("b"))];
    assert.equal(decided(tree), "a starts");
    assert.equal(decided(tree, { a: "running" }), "");
    assert.equal(decided(tree, { a: "passed" }), "b fails, c starts");
  });

  it("of a group hold back its steps, and no flag passes them", () => {
    const tree = [group("g", [step("a")], { ...after("none"), allowDependencyFailure: true }), step("b")];
    assert.equal(decided(tree, { b: "running" }), "");
    assert.equal(decided(tree, { b: "passed" }), "a fails");
  });
});

describe("a circle", () => {
  it("is found through keys, waits, groups and uploads, with some of its keys", () => {
    assert.deepEqual(findCircle([step("a", after("b")), step("b", after("a"))]), ["a", "b"]);
    assert.deepEqual(findCircle([step("a", after("a"))]), ["a"]);
    assert.deepEqual(findCircle([step("a", after("b")), wait("w"), step("b")]), ["a", "w", "b"]);
    assert.deepEqual(findCircle([group("g", [step("a", after("g"))])]), ["a"]);
    assert.deepEqual(findCircle([step("u"), upload("u", [step("a", after("b"))]), step("b", after("u"))]), [
      "a",
      "b",
    ]);
    assert.equal(findCircle([step("a"), step("b", after("a", "none")), wait("w"), step("c")]), undefined);
  });
});
