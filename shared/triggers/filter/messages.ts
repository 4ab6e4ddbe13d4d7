import { EvaluationError, ParseError, TypeError as TypeProblem } from "@marcbachmann/cel-js";
import { replacements } from "./functions.ts";

/** Values of the payload can be part of a sentence. */
const maxSentenceLength = 300;

/** The library's names of what it reads, as it is written. */
const tokens: Record<string, string> = {
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

/** What the library says of an expression, in plain English and with the place. */
export function describeError(error: unknown, expression: string): string {
  if (!isOfLibrary(error)) return "The expression is too complicated";
  const at = error.range?.start;
  const sentence = shorten(sentenceOf(error, expression));
  return at === undefined ? sentence : `${sentence}, at ${placeOf(expression, at)}`;
}

/** "line 1, column 5" of the character at this index; columns are counted as people see characters. */
export function placeOf(expression: string, at: number): string {
  const lines = expression.slice(0, at).split("\n");
  return `line ${lines.length}, column ${[...(lines.at(-1) ?? "")].length + 1}`;
}

type LibraryError = ParseError | TypeProblem | EvaluationError;

function isOfLibrary(error: unknown): error is LibraryError {
  return error instanceof ParseError || error instanceof TypeProblem || error instanceof EvaluationError;
}

function sentenceOf({ code, summary, range }: LibraryError, expression: string): string {
  switch (code) {
    case "unexpected_character":
      return `Unexpected ${range ? expression.slice(range.start, range.end) : "character"}`;
    case "expected_token":
    case "unexpected_token":
      return summary
        .replace("Unexpected token: EOF", "The expression ends too early")
        .replace("Unexpected token:", "Unexpected")
        .replace(/\b[A-Z]{2,}\b/g, (name) => tokens[name] ?? name);
    case "no_such_overload":
      return plainTypes(summary).replace("no such overload", "These types do not go together");
    case "no_matching_overload":
      return ownNames(summary).replace(
        "found no matching overload for",
        "Wrong types or number of values in",
      );
    case "invalid_macro_argument":
      return "has() takes a member, as in has(webhook.payload.name)";
    default:
      return summary.charAt(0).toUpperCase() + summary.slice(1);
  }
}

/** Without the library's mark of types that are known only now. */
function plainTypes(sentence: string): string {
  return sentence.replace(/dyn<(\w+)>/g, "$1");
}

/** Functions by the names that people wrote. */
function ownNames(sentence: string): string {
  return [...replacements].reduce((text, [written, ours]) => text.replace(ours, written), sentence);
}

function shorten(sentence: string): string {
  return sentence.length > maxSentenceLength ? `${sentence.slice(0, maxSentenceLength)}…` : sentence;
}
