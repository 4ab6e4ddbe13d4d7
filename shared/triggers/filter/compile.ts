import { type ASTNode, Environment, type ParseResult } from "@marcbachmann/cel-js";
import { registerReplacements, replacements } from "./functions.ts";
import { describeError, placeOf } from "./messages.ts";
import { findForbidden } from "./rules.ts";

/** In UTF-8. */
const maxExpressionBytes = 256;

/** What a filter sees of a delivery. */
export interface FilterVariable {
  id: string;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** As `parsePayload` makes it. */
  payload: unknown;
  /** Keys like `HTTP_X_GITHUB_EVENT`. */
  headers: Map<string, string>;
}

/** Only a verdict of true builds. */
export type FilterOutcome = { verdict: boolean } | { error: string };

/** A filter that is ready to be asked. It never throws. */
export type Filter = (webhook: FilterVariable) => FilterOutcome;

const environment = new Environment({
  // A list may have a text beside something of the payload.
  homogeneousAggregateLiterals: false,
}).registerVariable({
  name: "webhook",
  schema: { id: "string", created_at: "string", payload: "dyn", headers: "map<string, string>" },
});
registerReplacements(environment);

/** Reads a filter's expression and checks its types. `filter-rules.ts` lists what may be in it. */
export function compileFilter(expression: string): { filter: Filter } | { problem: string } {
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

function compile(expression: string): { filter: Filter } | { problem: string } {
  const parsed = environment.parse(expression);
  const forbidden = findForbidden(parsed.ast);
  if (forbidden) return { problem: `${forbidden.sentence}, at ${placeOf(expression, forbidden.at)}` };

  replaceFunctions(parsed.ast);
  const { valid, type, error } = parsed.check();
  if (!valid) return { problem: describeError(error, expression) };
  if (type !== "bool" && type !== "dyn") {
    return { problem: `The expression must be true or false, and is always of type ${type}` };
  }
  return { filter: (webhook) => evaluate(parsed, expression, webhook) };
}

function replaceFunctions(node: ASTNode): void {
  if (node.op === "call" || node.op === "rcall")
    node.args[0] = replacements.get(node.args[0]) ?? node.args[0];
  for (const child of childrenOf(node)) replaceFunctions(child);
}

/** Those of the kinds of node that `findForbidden` lets pass: a node's arguments are nodes, texts and lists of nodes. */
function childrenOf(node: ASTNode): ASTNode[] {
  const parts: unknown[] = node.op === "value" || node.op === "id" ? [] : [node.args].flat(2);
  return parts.filter((part): part is ASTNode => typeof part === "object");
}

function evaluate(parsed: ParseResult, expression: string, webhook: FilterVariable): FilterOutcome {
  try {
    const result: unknown = parsed({ webhook });
    if (typeof result === "boolean") return { verdict: result };
    return { error: `The result must be true or false, and is ${nameOf(result)}` };
  } catch (error) {
    return { error: describeError(error, expression) };
  }
}

function nameOf(result: unknown): string {
  if (result === null) return "null";
  if (Array.isArray(result)) return "a list";
  if (typeof result === "string") return "a text";
  return typeof result === "object" ? "a map" : "a number";
}
