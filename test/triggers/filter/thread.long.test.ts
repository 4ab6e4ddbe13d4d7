import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FilterInput } from "../../../shared/triggers/filter/evaluate.ts";
import { type Evaluation, openFilterEvaluator } from "../../../shared/triggers/filter/evaluator.ts";
import { filterInput } from "./filter-input.ts";

/** Takes about a minute: text and pattern are at their limits. */
const slow = filterInput("webhook.payload.s.matches('(\\\\pL|\\\\pN){900}\\\\pN')", {
  payload: { s: "aé".repeat(1_300_000) },
});

function open(deadlineMs?: number) {
  const evaluateAll = openFilterEvaluator(deadlineMs);
  const evaluate = async (input: FilterInput, signal?: AbortSignal) =>
    (await evaluateAll([input], signal))[0] as Evaluation;
  return { evaluateAll, evaluate };
}

describe("filters in threads", () => {
  it("evaluates hundreds at once, each with its own result", async () => {
    const filters = open(60_000);
    const questions = Array.from({ length: 500 }, (_, index) =>
      filterInput("webhook.payload.n == 7", { payload: { n: index % 10 } }),
    );

    const evaluations = await Promise.all(questions.map((question) => filters.evaluate(question)));
    const outcomes = evaluations.map(({ outcome }) => outcome);

    const expected = questions.map((_, index) => ({ verdict: index % 10 === 7 }));
    assert.deepEqual(outcomes, expected);
  });

  it("reports the slow filter, and evaluates the others", async () => {
    const filters = open(3000);
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
  });

  it("has a deadline of a second unless told otherwise", async () => {
    const filters = open();
    const error = "Evaluating the filter took longer than 1 second";
    assert.deepEqual(await filters.evaluate(slow), { outcome: { error }, isLate: true });
  });

  it("ends an evaluation whose signal aborts, and evaluates the others", async () => {
    const filters = open(60_000);
    const gone = new AbortController();
    const quick = filterInput("webhook.payload.n == 1", { payload: { n: 1 } });
    const abandoned = [filters.evaluate(slow, gone.signal), filters.evaluate(quick, gone.signal)];
    const other = filters.evaluate(quick);

    gone.abort();

    for (const evaluation of abandoned) await assert.rejects(evaluation, { name: "AbortError" });
    assert.deepEqual((await other).outcome, { verdict: true });
    await assert.rejects(filters.evaluate(quick, gone.signal), { name: "AbortError" });
  });

  it("evaluates as many of a list as fit into a moment, in order", async () => {
    const filters = open(60_000);
    const inputs = [1, 2, 3].map((n) => filterInput("webhook.payload.n == 2", { payload: { n } }));
    await filters.evaluateAll(inputs); // the first evaluations of a thread are slow
    const evaluations = await filters.evaluateAll(inputs);
    assert.deepEqual(
      evaluations.map(({ outcome }) => outcome),
      [{ verdict: false }, { verdict: true }, { verdict: false }].slice(0, evaluations.length),
    );
    assert.ok(evaluations.length >= 1);
  });

  it("evaluates those of a list before the one that misses the deadline, and says which does", async () => {
    const filters = open(3000);
    const quick = filterInput("webhook.payload.n == 1", { payload: { n: 1 } });
    await filters.evaluate(quick); // the first evaluation of a thread is slow

    const evaluations = await filters.evaluateAll([quick, slow, quick]);

    assert.deepEqual(
      evaluations.map(({ isLate }) => isLate),
      [false, true],
    );
    assert.deepEqual((await filters.evaluate(quick)).outcome, { verdict: true });
  });
});
