import { ConditionError, type Expression } from "./expression.ts";
import { type Kinds, kindOfName } from "./names.ts";

// The types of a whole condition, which is checked once: whether it can be evaluated depends on no facts. Names and
// variables may also be null, which every operator takes.

type Kind = keyof Kinds | "null";

const words: Record<Kind, string> = {
  text: "a text",
  number: "a number",
  boolean: "true or false",
  list: "a list",
  null: "null",
};
const advice: Partial<Record<Kind, string>> = {
  text: "compare it by == or =~",
  number: "compare it by ==",
  list: "use includes",
};

/** Parsing bounds the depth. @throws ConditionError unless the value is true, false or null */
export function requireTruth(expression: Expression): void {
  requireKind(
    expression,
    ["boolean", "null"],
    (kind) => `Expected true or false, found ${words[kind]}: ${advice[kind]}`,
  );
}

function kindOf(expression: Expression): Kind {
  switch (expression.type) {
    case "literal":
      return kindOfLiteral(expression.value);
    case "name":
      return kindOfName(expression.name);
    case "env":
      requireKind(expression.variable, ["text"], (kind) => `build.env() takes a text, not ${words[kind]}`);
      return "text";
    case "list":
      expression.items.forEach(kindOf);
      return "list";
    case "not":
      requireTruth(expression.operand);
      return "boolean";
    case "and":
    case "or":
      expression.operands.forEach(requireTruth);
      return "boolean";
    case "equals":
      kindOf(expression.left);
      kindOf(expression.right);
      return "boolean";
    case "includes":
      requireList(expression.left);
      kindOf(expression.right);
      return "boolean";
    case "includes-match":
      requireList(expression.left);
      return "boolean";
    case "matches":
      requireKind(
        expression.left,
        ["text", "null"],
        (kind) => `Only a text can match a regular expression, not ${words[kind]}`,
      );
      return "boolean";
  }
}

function requireList(expression: Expression): void {
  requireKind(
    expression,
    ["list", "null"],
    (kind) => `The left side of includes must be a list, not ${words[kind]}`,
  );
}

function requireKind(expression: Expression, allowed: Kind[], describe: (kind: Kind) => string): void {
  const kind = kindOf(expression);
  if (!allowed.includes(kind)) throw new ConditionError(describe(kind), expression.at);
}

function kindOfLiteral(value: string | number | boolean | null): Kind {
  if (value === null) return "null";
  return typeof value === "string" ? "text" : (typeof value as "number" | "boolean");
}
