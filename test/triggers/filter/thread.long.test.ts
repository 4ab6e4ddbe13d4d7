import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FilterInput } from "../../../shared/triggers/filter/evaluate.ts";
import { type Evaluation, openFilterEvaluator } from "../../../shared/triggers/filter/evaluator.ts";
import { filterInput } from "./filter-input.ts";

/** Takes about a minute: text and pattern are at their limits. */
const slow = filterInput("webhook.payload.s.matches('(\\\\pL|\\\\pN){900}\\\\pN')", {
  payload: { s: "aé".repeat(1_300_000) },
});

function open(options?: { deadlineMs: number }) {
  const { evaluateFirst, close } = openFilterEvaluator(options);
  const evaluate = async (input: FilterInput, signal?: AbortSignal) =>
    (await evaluateFirst([input], signal))[0] as Evaluation;
  return { evaluateFirst, evaluate, close };
}

describe("filters in a worker thread", () => {
  it("evaluates hundreds at once, each with its own result", async () => {
    const filters = open({ deadlineMs: 60_000 });
    const questions = Array.from({ length: 500 }, (_, index) =>
      filterInput("webhook.payload.n == 7", { payload: { n: index % 10 } }),
    );

    const evaluations = await Promise.all(questions.map((question) => filters.evaluate(question)));
    const outcomes = evaluations.map(({ outcome }) => outcome);

    const expected = questions.map((_, index) => ({ verdict: index % 10 === 7 }));
    assert.deepEqual(outcomes, expected);
    await filters.close();
  });

  it("reports the slow filter, and evaluates the others", async () => {
    const filters = open({ deadlineMs: 3000 });
    const quick = filterInput("webhook.payload.n == 1", { payload: { n: 1 } });

    const evaluations = await Promise.all(
      [quick, slow, quick, slow, quick].map((question) => filters.evaluate(question)),
    );

    const late = { error: "Evaluating the filter took longer than 3 seconds" };
    const yes = { verdict: true };
    assert.deepEqual(
      evaluations.map(({ outcome }) => outcome),
      [yes, late, yes, late, yes],
    );
    assert.deepEqual(
      evaluations.map(({ isLate }) => isLate),
      [false, true, false, true, false],
    );
    await filters.close();
  });

  it("has a deadline of a second unless told otherwise", async () => {
    const filters = open();
    const error = "Evaluating the filter took longer than 1 second";
    assert.deepEqual(await filters.evaluate(slow), { outcome: { error }, ms: 1000, isLate: true });
    await filters.close();
  });

  it("ends an evaluation whose signal aborts, and evaluates the others", async () => {
    const filters = open({ deadlineMs: 60_000 });
    const gone = new AbortController();
    const quick = filterInput("webhook.payload.n == 1", { payload: { n: 1 } });
    const abandoned = [filters.evaluate(slow, gone.signal), filters.evaluate(quick, gone.signal)];
    const other = filters.evaluate(quick);

    gone.abort();

    for (const evaluation of abandoned) await assert.rejects(evaluation, { name: "AbortError" });
    assert.deepEqual((await other).outcome, { verdict: true });
    await assert.rejects(filters.evaluate(quick, gone.signal), { name: "AbortError" });
    await filters.close();
  });

  it("evaluates as many of a list as fit into a moment, in order", async () => {
    const filters = open({ deadlineMs: 60_000 });
    const inputs = [1, 2, 3].map((n) => filterInput("webhook.payload.n == 2", { payload: { n } }));
    await filters.evaluateFirst(inputs); // the first evaluations of a thread are slow
    const evaluations = await filters.evaluateFirst(inputs);
    assert.deepEqual(
      evaluations.map(({ outcome }) => outcome),
      [{ verdict: false }, { verdict: true }, { verdict: false }].slice(0, evaluations.length),
    );
    assert.ok(evaluations.length >= 1);
    await filters.close();
  });

  it("evaluates none of a list if one of it misses the deadline", async () => {
    const filters = open({ deadlineMs: 3000 });
    const quick = filterInput("webhook.payload.n == 1", { payload: { n: 1 } });
    assert.deepEqual(await filters.evaluateFirst([slow, quick]), []);
    assert.deepEqual((await filters.evaluate(quick)).outcome, { verdict: true });
    await filters.close();
  });

  it("rejects once it is closed", async () => {
    const filters = open();
    await filters.close();
    await assert.rejects(filters.evaluate(filterInput("true")), /closed/);
  });
});
