import { setImmediate as nextTurn } from "node:timers/promises";
import { type Budget, newBudget } from "../conditions/budget.ts";
import { evaluateCondition } from "../conditions/evaluate.ts";
import { describeProblem } from "../conditions/expression.ts";
import { type Facts, namesInSteps } from "../conditions/names.ts";
import { parseCondition } from "../conditions/parse.ts";
import { isGroupStep, type Step } from "../vocabulary.ts";
import type { TestCondition } from "./expand.ts";

/**
 * Evaluates the conditions of a document. Equal texts are evaluated once. Together they have one budget: a build has few
 * long texts to match.
 * @param readCondition makes the text of a condition that is evaluated. Default: as it is
 */
export function openConditions(facts: Facts, readCondition = (text: string) => text): TestCondition {
  const budget = newBudget();
  const known = new Map<string, ReturnType<TestCondition>>();
  return (text) => {
    const result = known.get(text) ?? testCondition(readCondition(text), facts, budget);
    known.set(text, result);
    return result;
  };
}

/** Evaluates each condition of the steps in a turn of the event loop of its own, so that others need not wait for all. */
export async function evaluateAhead(test: TestCondition, steps: Step[]): Promise<void> {
  for (const step of steps) {
    if (step.if !== undefined) {
      test(step.if);
      await nextTurn();
    }
    if (isGroupStep(step)) await evaluateAhead(test, step.steps);
  }
}

function testCondition(text: string, facts: Facts, budget: Budget): ReturnType<TestCondition> {
  const parsed = parseCondition(text, namesInSteps, budget);
  const evaluated = "problem" in parsed ? parsed : evaluateCondition(parsed.condition, facts, budget);
  return "problem" in evaluated ? { problem: describeProblem(evaluated.problem) } : evaluated;
}
