import { EvaluationError, ParseError, TypeError as TypeProblem } from "@marcbachmann/cel-js";
import { excerpt } from "../../refusal.ts";
import { describePosition } from "../../text-position.ts";
import { ownPrefix } from "./environment.ts";

/** Messages may quote the payload. */
const maxSentenceLength = 300;

const tokenTexts: Record<string, string> = {
  EOF: "the end",
  NUMBER: "a number",
  STRING: "a text",
  BYTES: "bytes",
  BOOLEAN: "true or false",
  NULL: "null",
  IDENTIFIER: "a name",
  PLUS: "+",
  MINUS: "-",
  MULTIPLY: "*",
  DIVIDE: "/",
  MODULO: "%",
  EQ: "==",
  NE: "!=",
  LT: "<",
  LE: "<=",
  GT: ">",
  GE: ">=",
  AND: "&&",
  OR: "||",
  NOT: "!",
  IN: "in",
  LPAREN: "(",
  RPAREN: ")",
  LBRACKET: "[",
  RBRACKET: "]",
  LBRACE: "{",
  RBRACE: "}",
  DOT: ".",
  COMMA: ",",
  COLON: ":",
  QUESTION: "?",
};

/** Any error of another class is a stack overflow. */
export function describeError(error: unknown, expression: string): string {
  if (!isLibraryError(error)) return "The expression is too complicated";
  const start = error.range?.start;
  const sentence = excerpt(describe(error, expression), maxSentenceLength);
  return start === undefined ? sentence : `${sentence}, at ${describePosition(expression, start)}`;
}

type LibraryError = ParseError | TypeProblem | EvaluationError;

function isLibraryError(error: unknown): error is LibraryError {
  return error instanceof ParseError || error instanceof TypeProblem || error instanceof EvaluationError;
}

function describe({ code, summary, range }: LibraryError, expression: string): string {
  switch (code) {
    case "unexpected_character":
      return `Unexpected ${range ? expression.slice(range.start, range.end) : "character"}`;
    case "expected_token":
    case "unexpected_token":
      return summary
        .replace("Unexpected token: EOF", "The expression ends too early")
        .replace("Unexpected token:", "Unexpected")
        .replace(/\b[A-Z]{2,}\b/g, (name) => tokenTexts[name] ?? name);
    case "no_such_overload":
      return plainTypes(summary).replace("no such overload", "These types do not go together");
    case "no_matching_overload":
      return writtenNames(summary).replace(
        "found no matching overload for",
        "Wrong types or number of values in",
      );
    case "invalid_macro_argument":
      return "has() takes a member, as in has(webhook.payload.name)";
    default:
      return summary.charAt(0).toUpperCase() + summary.slice(1);
  }
}

/** `dyn<int>` is an int known only at runtime. */
function plainTypes(sentence: string): string {
  return sentence.replace(/dyn<(\w+)>/g, "$1");
}

function writtenNames(sentence: string): string {
  return sentence.replace(ownPrefix, "");
}
