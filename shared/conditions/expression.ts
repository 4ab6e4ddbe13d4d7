import { positionAt } from "../text-position.ts";
import type { Name } from "./names.ts";

/** A parsed condition: plain JSON. */
export interface Condition {
  /** As it was written. */
  text: string;
  expression: Expression;
}

/** `at` is the index of the part in the text that an error points to. */
export type Expression = { at: number } & (
  | { type: "literal"; value: string | number | boolean | null }
  | { type: "name"; name: Name }
  | { type: "env"; variable: Expression }
  | { type: "list"; items: Expression[] }
  | { type: "not"; operand: Expression }
  | { type: "and" | "or"; operands: Expression[] }
  | { type: "equals" | "includes"; left: Expression; right: Expression }
  | { type: "matches" | "includes-match"; left: Expression; pattern: string }
);

export interface ConditionProblem {
  /** A sentence for the author of the condition, without its full stop. */
  message: string;
  /** In UTF-16 units, from 0. */
  offset: number;
  /** From 1, in characters. */
  line: number;
  column: number;
}

/** Carries a problem out of the parser or the evaluator. */
export class ConditionError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** @throws the error, if it is a bug */
export function toProblem(error: unknown, text: string): ConditionProblem {
  if (!(error instanceof ConditionError)) throw error;
  return { message: error.message, offset: error.at, ...positionAt(text, error.at) };
}

/** `Unknown name x …, at line 1, column 5`. */
export function describeProblem({ message, line, column }: ConditionProblem): string {
  return `${message}, at line ${line}, column ${column}`;
}
