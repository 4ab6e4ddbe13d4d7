// or    = and {"||" and}
// and   = not {"&&" not}
// not   = "!" not | cmp
// cmp   = value [("==" | "!=" | "=~" | "!~" | "includes" | "@>") unary]
// unary = "!" unary | value
// value = text | integer | "true" | "false" | "null" | name {"." name} | name {"." name} "(" or ")"
//       | "[" [or {"," or}] "]" | "(" or ")"
//
// A `!` on the left negates the whole comparison, as the hosted service reads it: `!a == b` is `!(a == b)`. A regular
// expression stands only on the right of =~, !~ and includes. Not equal is the opposite of equal, !~ that of =~.

import { excerpt } from "../refusal.ts";
import { isStorable } from "../validation.ts";
import { shownBuildStates } from "../vocabulary.ts";
import { newBudget, spend } from "./budget.ts";
import {
  type Condition,
  ConditionError,
  type ConditionProblem,
  type Expression,
  toProblem,
} from "./expression.ts";
import { describeWrongFunction, describeWrongName, isName, type Name } from "./names.ts";
import { describeToken, type Token, Tokens } from "./tokens.ts";
import { requireTruth } from "./types.ts";

/** In UTF-16 units. */
export const maxConditionLength = 8192;
/** Of parentheses, lists, calls and `!`. */
const maxDepth = 100;
const maxNodes = 1000;

const comparisons = ["==", "!=", "=~", "!~", "includes", "@>"];
const words = new Map([
  ["and", "Use && for and"],
  ["or", "Use || for or"],
  ["not", "Use ! for not"],
]);
const constants = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);
/** Of builds: `build.state == failed` is written without quotes, too. */
const states: ReadonlySet<string> = new Set([...shownBuildStates, "blocked"]);

/**
 * Parses a condition and checks its types, so that it can be evaluated with any facts. Takes time linear in its length, besides its regular expressions.
 * @param names those that may be used
 * @param budget of the document; default: one for this condition
 */
export function parseCondition(
  text: string,
  names: ReadonlySet<Name>,
  budget = newBudget(),
): { condition: Condition } | { problem: ConditionProblem } {
  try {
    requireReadable(text);
    spend(budget, "characters", text.length, 0);
    const expression = new Parser(new Tokens(text, budget), names).parse();
    requireTruth(expression);
    return { condition: { text, expression } };
  } catch (error) {
    return { problem: toProblem(error, text) };
  }
}

function requireReadable(text: string): void {
  if (text.length > maxConditionLength)
    throw new ConditionError(
      `The condition is longer than ${maxConditionLength} characters`,
      maxConditionLength,
    );
  if (!isStorable(text))
    throw new ConditionError(
      "The condition must be Unicode text without NUL",
      text.search(/\0|\p{Surrogate}/u),
    );
}

class Parser {
  readonly #tokens: Tokens;
  readonly #names: ReadonlySet<Name>;
  #depth = 0;
  #nodes = 0;

  constructor(tokens: Tokens, names: ReadonlySet<Name>) {
    this.#tokens = tokens;
    this.#names = names;
  }

  parse(): Expression {
    const { kind, at } = this.#tokens.next;
    if (kind === "end") throw new ConditionError("The condition is empty: leave it out to have none", at);
    const expression = this.#parseOr();
    const rest = this.#tokens.next;
    if (rest.kind === "end") return expression;
    throw new ConditionError(
      words.get(rest.source) ?? `Expected && or ||, found ${describeToken(rest)}`,
      rest.at,
    );
  }

  #parseOr(): Expression {
    return this.#parseRow("or", "||", () => this.#parseRow("and", "&&", () => this.#parseNot()));
  }

  #parseRow(type: "or" | "and", symbol: string, parseOperand: () => Expression): Expression {
    const first = parseOperand();
    const operands = [first];
    while (this.#tokens.takeIf(symbol)) operands.push(parseOperand());
    return operands.length === 1 ? first : this.#node({ type, operands, at: first.at });
  }

  #parseNot(): Expression {
    return this.#negate(() => this.#parseNot()) ?? this.#parseComparison();
  }

  /** Undefined: no `!` comes next. */
  #negate(parseOperand: () => Expression): Expression | undefined {
    const not = this.#tokens.takeIf("!");
    if (!not) return undefined;
    return this.#node({ type: "not", operand: this.#nest(not, parseOperand), at: not.at });
  }

  #parseComparison(): Expression {
    const left = this.#parseValue();
    const operator = this.#tokens.next;
    if (!comparisons.includes(operator.source)) return left;
    const compared = this.#parseRight(left, operator);
    const another = this.#tokens.next;
    if (comparisons.includes(another.source))
      throw new ConditionError("Join comparisons by && or ||, or put one into parentheses", another.at);
    const isOpposite = operator.source === "!=" || operator.source === "!~";
    return isOpposite ? this.#node({ type: "not", operand: compared, at: operator.at }) : compared;
  }

  #parseRight(left: Expression, { source, at }: Token): Expression {
    if (source === "=~" || source === "!~") {
      return this.#node({ type: "matches", left, pattern: this.#tokens.takeRegex(), at });
    }
    const isMembership = source === "includes" || source === "@>";
    if (isMembership && this.#tokens.isBeforeRegex())
      return this.#node({ type: "includes-match", left, pattern: this.#tokens.takeRegex(), at });
    this.#tokens.take();
    const type = isMembership ? "includes" : "equals";
    return this.#node({ type, left, right: this.#parseUnary(), at });
  }

  #parseUnary(): Expression {
    return this.#negate(() => this.#parseUnary()) ?? this.#parseValue();
  }

  #parseValue(): Expression {
    const token = this.#tokens.take();
    const { kind, source, at } = token;
    if (kind === "text") return this.#node({ type: "literal", value: unquote(source), at });
    if (kind === "integer") return this.#node({ type: "literal", value: toInteger(token), at });
    if (kind === "name" && !comparisons.includes(source)) return this.#parseName(token);
    if (source === "(") return this.#nest(token, () => this.#parseClosed(")"));
    if (source === "[")
      return this.#node({ type: "list", items: this.#nest(token, () => this.#parseItems()), at });
    throw new ConditionError(`Expected a value, found ${describeToken(token)}`, at);
  }

  #parseName(first: Token): Expression {
    const { at } = first;
    const constant = constants.get(first.source);
    if (constant !== undefined) return this.#node({ type: "literal", value: constant, at });

    let name = first.source;
    while (this.#tokens.takeIf(".")) {
      const part = this.#tokens.take();
      if (part.kind !== "name")
        throw new ConditionError(`Expected a name after the dot, found ${describeToken(part)}`, part.at);
      name += `.${part.source}`;
    }
    const call = this.#tokens.takeIf("(");
    if (call) return this.#parseCall(name, first, call);
    if (isName(name) && this.#names.has(name)) return this.#node({ type: "name", name, at });
    if (states.has(name) && this.#names.has("build.state"))
      return this.#node({ type: "literal", value: name, at });
    throw new ConditionError(this.#adviceOnName(name), at);
  }

  #parseCall(name: string, { at }: Token, call: Token): Expression {
    if (name !== "build.env" && name !== "env") throw new ConditionError(describeWrongFunction(name), at);
    if (this.#tokens.next.source === ")")
      throw new ConditionError('build.env() takes a name, as in build.env("NAME")', this.#tokens.next.at);
    return this.#node({ type: "env", variable: this.#nest(call, () => this.#parseClosed(")")), at });
  }

  #adviceOnName(name: string): string {
    if (name === "build.env" || name === "env" || name.startsWith("build.env."))
      return 'Variables are read with build.env("NAME")';
    return words.get(name) ?? describeWrongName(excerpt(name), this.#names);
  }

  #parseItems(): Expression[] {
    const items: Expression[] = [];
    if (this.#tokens.takeIf("]")) return items;
    do items.push(this.#parseOr());
    while (this.#tokens.takeIf(","));
    this.#close("]");
    return items;
  }

  #parseClosed(end: string): Expression {
    const expression = this.#parseOr();
    this.#close(end);
    return expression;
  }

  #close(end: string): void {
    if (this.#tokens.takeIf(end)) return;
    const { next } = this.#tokens;
    throw new ConditionError(
      words.get(next.source) ?? `Expected ${end}, found ${describeToken(next)}`,
      next.at,
    );
  }

  #nest<T>({ at }: Token, parse: () => T): T {
    if (++this.#depth > maxDepth)
      throw new ConditionError(`The condition is nested deeper than ${maxDepth} levels`, at);
    const parsed = parse();
    this.#depth--;
    return parsed;
  }

  #node(node: Expression): Expression {
    if (++this.#nodes > maxNodes)
      throw new ConditionError(`The condition has more than ${maxNodes} parts`, node.at);
    return node;
  }
}

/** `\"`, `\'` and `\\` are escapes. Any other backslash is one. */
function unquote(source: string): string {
  return source.slice(1, -1).replace(/\\(["'\\])/g, "$1");
}

function toInteger({ source, at }: Token): number {
  const value = Number(source);
  if (!Number.isSafeInteger(value)) throw new ConditionError("The number is too large", at);
  return value;
}
