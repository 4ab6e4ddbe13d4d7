import type { ASTNode, ParseResult } from "@marcbachmann/cel-js";
import { describePosition } from "../../text-position.ts";
import { environment, type WebhookVariable } from "./environment.ts";
import { describeError } from "./messages.ts";
import { type NamedMember, namedMembers, type ReadValue } from "./read-values.ts";
import { applyRules } from "./rules.ts";

export const maxExpressionBytes = 256;

/** Only the verdict true builds. `values` are those that were read, if they were asked for. */
export type FilterOutcome = { verdict: boolean; values?: ReadValue[] } | { error: string };

/** Never throws. */
export type Filter = (webhook: WebhookVariable) => FilterOutcome;

interface CompiledFilter {
  filter: Filter;
  /** Those that the expression names. */
  members: NamedMember[];
  ast: ASTNode;
}

export function compileFilter(expression: string): CompiledFilter | { problem: string } {
  if (Buffer.byteLength(expression) > maxExpressionBytes) {
    return { problem: `The expression is longer than ${maxExpressionBytes} bytes` };
  }
  if (expression.trim() === "") return { problem: "The expression can't be blank" };
  if (!expression.isWellFormed() || expression.includes("\0")) {
    return { problem: "The expression must be Unicode text without NUL" };
  }

  try {
    return compile(expression);
  } catch (error) {
    return { problem: describeError(error, expression) };
  }
}

function compile(expression: string): CompiledFilter | { problem: string } {
  const parsed = environment.parse(expression);
  const violation = applyRules(parsed.ast);
  if (violation) {
    return { problem: `${violation.sentence}, at ${describePosition(expression, violation.index)}` };
  }

  const { valid, type, error } = parsed.check();
  if (!valid) return { problem: describeError(error, expression) };
  if (type !== "bool" && type !== "dyn") {
    return { problem: `The expression must be true or false, and is always of type ${type}` };
  }
  return {
    filter: (webhook) => evaluate(parsed, expression, webhook),
    members: namedMembers(parsed.ast),
    ast: parsed.ast,
  };
}

function evaluate(parsed: ParseResult, expression: string, webhook: WebhookVariable): FilterOutcome {
  try {
    const result: unknown = parsed({ webhook });
    if (typeof result === "boolean") return { verdict: result };
    return { error: `The result must be true or false, and is ${typeName(result)}` };
  } catch (error) {
    return { error: describeError(error, expression) };
  }
}

function typeName(result: unknown): string {
  if (result === null) return "null";
  if (Array.isArray(result)) return "a list";
  if (typeof result === "string") return "a text";
  return typeof result === "object" ? "a map" : "a number";
}
