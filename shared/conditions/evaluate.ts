import { type Budget, newBudget } from "./budget.ts";
import {
  type Condition,
  ConditionError,
  type ConditionProblem,
  type Expression,
  toProblem,
} from "./expression.ts";
import type { Facts, Value } from "./names.ts";
import { matchesPattern } from "./regex.ts";

/**
 * Null is false. Any other result that is no boolean is a problem.
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

  /** The value as true or false. */
  test(expression: Expression): boolean {
    const value = this.#evaluate(expression);
    if (value === null || typeof value === "boolean") return value === true;
    throw new ConditionError(
      `Expected true or false, found ${describe(value)}: ${advice(value)}`,
      expression.at,
    );
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
        return this.#matches(expression);
    }
  }

  #readVariable(variable: Expression): string | null {
    const name = this.#evaluate(variable);
    if (typeof name === "string") return this.#facts.env(name);
    throw new ConditionError(`build.env() takes a text, not ${describe(name)}`, variable.at);
  }

  #includes({ left, right }: Extract<Expression, { left: Expression; right: Expression }>): boolean {
    const list = this.#evaluate(left);
    const value = this.#evaluate(right);
    if (list === null) return false;
    if (isList(list)) return list.some((item) => isEqual(item, value));
    throw new ConditionError(`The left side of includes must be a list, not ${describe(list)}`, left.at);
  }

  #matches({ left, pattern, at }: Extract<Expression, { type: "matches" }>): boolean {
    const text = this.#evaluate(left);
    if (text === null) return false;
    if (typeof text !== "string")
      throw new ConditionError(`Only a text can match a regular expression, not ${describe(text)}`, left.at);
    return matchesPattern(text, pattern, { at, budget: this.#budget });
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

function advice(value: Value): string {
  if (isList(value)) return "use includes";
  return typeof value === "string" ? "compare it by == or =~" : "compare it by ==";
}

function describe(value: Value): string {
  if (value === null) return "null";
  if (isList(value)) return "a list";
  return { string: "a text", number: "a number", boolean: "true or false" }[typeof value as string] ?? "this";
}
