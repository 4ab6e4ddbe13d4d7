import type { Expression } from "./expression.ts";
import type { Facts, Value } from "./names.ts";

const maxReads = 20;

/** Lists the names that a condition reads, with their values. Leaves out variables whose names it computes. */
export function listReads(expression: Expression, facts: Facts): [name: string, value: Value][] {
  const found = new Map<string, Value>();
  collect(expression, facts, found);
  return [...found].slice(0, maxReads);
}

/** Parsing bounds the depth. */
function collect(expression: Expression, facts: Facts, found: Map<string, Value>): void {
  if (expression.type === "name") found.set(expression.name, facts.values[expression.name] ?? null);
  if (expression.type === "env" && expression.variable.type === "literal") {
    const name = String(expression.variable.value);
    found.set(`build.env("${name}")`, facts.env(name));
  }
  for (const part of partsOf(expression)) collect(part, facts, found);
}

/** Lists the regular expressions of a condition. */
export function listPatterns(expression: Expression): string[] {
  const own = "pattern" in expression ? [expression.pattern] : [];
  return [...own, ...partsOf(expression).flatMap(listPatterns)];
}

function partsOf(expression: Expression): Expression[] {
  switch (expression.type) {
    case "literal":
    case "name":
      return [];
    case "env":
      return [expression.variable];
    case "list":
      return expression.items;
    case "not":
      return [expression.operand];
    case "and":
    case "or":
      return expression.operands;
    case "equals":
    case "includes":
      return [expression.left, expression.right];
    case "matches":
    case "includes-match":
      return [expression.left];
  }
}
