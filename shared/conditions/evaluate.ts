import { type Budget, newBudget } from "./budget.ts";
import { type Condition, type ConditionProblem, type Expression, toProblem } from "./expression.ts";
import type { Facts, Value } from "./names.ts";
import { matchesPattern } from "./regex.ts";

/**
 * Evaluates a condition whose types are checked. Null is false.
 * @param budget of the document; default: one for this evaluation
 */
export function evaluateCondition(
  { text, expression }: Condition,
  facts: Facts,
  budget = newBudget(),
): { result: boolean } | { problem: ConditionProblem } {
  try {
    return { result: new Evaluation(facts, budget).test(expression) };
  } catch (error) {
    return { problem: toProblem(error, text) };
  }
}

class Evaluation {
  readonly #facts: Facts;
  readonly #budget: Budget;

  constructor(facts: Facts, budget: Budget) {
    this.#facts = facts;
    this.#budget = budget;
  }

  /** The value as true or false. Null is false. */
  test(expression: Expression): boolean {
    return this.#evaluate(expression) === true;
  }

  /** Parsing bounds the depth. */
  #evaluate(expression: Expression): Value {
    switch (expression.type) {
      case "literal":
        return expression.value;
      case "name":
        return this.#facts.values[expression.name] ?? null;
      case "env":
        return this.#readVariable(expression.variable);
      case "list":
        return expression.items.map((item) => this.#evaluate(item));
      case "not":
        return !this.test(expression.operand);
      case "and":
        return expression.operands.every((operand) => this.test(operand));
      case "or":
        return expression.operands.some((operand) => this.test(operand));
      case "equals":
        return isEqual(this.#evaluate(expression.left), this.#evaluate(expression.right));
      case "includes":
        return this.#includes(expression);
      case "matches":
        return this.#matches(this.#evaluate(expression.left), expression);
      case "includes-match":
        return this.#listOf(expression.left).some((item) => this.#matches(item, expression));
    }
  }

  #readVariable(variable: Expression): string | null {
    const name = this.#evaluate(variable);
    return typeof name === "string" ? this.#facts.env(name) : null;
  }

  #includes({ left, right }: { left: Expression; right: Expression }): boolean {
    const value = this.#evaluate(right);
    return this.#listOf(left).some((item) => isEqual(item, value));
  }

  /** Null is an empty list. */
  #listOf(expression: Expression): readonly Value[] {
    const list = this.#evaluate(expression);
    return isList(list) ? list : [];
  }

  #matches(text: Value, { pattern, at }: { pattern: string; at: number }): boolean {
    return typeof text === "string" && matchesPattern(text, pattern, { at, budget: this.#budget });
  }
}

/** Values of different types are not equal. */
function isEqual(left: Value, right: Value): boolean {
  if (!isList(left) || !isList(right)) return left === right;
  return left.length === right.length && left.every((item, index) => isEqual(item, right[index] ?? null));
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}
