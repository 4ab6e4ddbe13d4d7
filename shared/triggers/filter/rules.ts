// What an expression may say, before its types are checked: a list of what is allowed, so that what a new version
// of the library brings is not. Left out on purpose:
//
//   loops (all, exists, exists_one, map, filter, cel.bind)   cost more than the length of the payload
//   split, join, substring, indexOf, bytes, maps in braces   build values; some of them far larger than the payload
//   timestamp, duration                                      the library's also take dates that are not ISO 8601, in
//                                                            the machine's own zone; ISO dates compare as texts
//   int                                                      int('') is 0 there, and numbers compare without it
//   arithmetic                                               filters compare, they do not compute; + joins texts

import type { ASTNode } from "@marcbachmann/cel-js";
import { findPatternProblem } from "./functions.ts";

/** What is not allowed, and the character where it stands. */
export interface FilterProblem {
  sentence: string;
  at: number;
}

const members = ["id", "created_at", "payload", "headers"];
const membersSentence = `write ${members.map((name) => `webhook.${name}`).join(", ")}`;

const functions = ["has", "size", "matches", "string", "double"];
const methods = ["size", "contains", "startsWith", "endsWith", "matches", "lowerAscii", "upperAscii", "trim"];
const textMethods = ["lowerAscii", "upperAscii", "trim"];

/** The first thing in an expression that filters must not contain; undefined: nothing. */
export function findForbidden(node: ASTNode): FilterProblem | undefined {
  switch (node.op) {
    case "value":
      return isKnownLiteral(node.args)
        ? undefined
        : problem(node, "Bytes and unsigned numbers are not available");
    case "id":
      if (node.args === "webhook")
        return problem(node, `webhook is not a value by itself: ${membersSentence}`);
      return problem(node, `Unknown variable ${node.args}: the only one is webhook`);
    case ".":
      return findForbiddenMember(node, node.args[0], node.args[1]);
    case "call":
      return findForbiddenCall(node, node.args[0], node.args[1]);
    case "rcall":
      return findForbiddenMethod(node, node.args[0], node.args[1], node.args[2]);
    case "+":
      if (node.args.some(isText)) return firstForbidden(node.args);
      return firstForbidden(node.args) ?? problem(node, "Filters do not compute: + needs a text on one side");
    case "-":
    case "*":
    case "/":
    case "%":
      return problem(node, `Filters compare, they do not compute: ${node.op} is not available`);
    case "-_":
      if (node.args.op === "value") return findForbidden(node.args);
      return problem(node, "Filters compare, they do not compute: - must be followed by a number");
    case "!_":
      return findForbidden(node.args);
    case "[]":
    case "list":
    case "?:":
    case "||":
    case "&&":
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
    case "in":
      return firstForbidden(node.args);
    default:
      return problem(
        node,
        node.op === "map" ? "Maps cannot be written in filters" : `${node.op} is not available`,
      );
  }
}

function firstForbidden(nodes: ASTNode[]): FilterProblem | undefined {
  for (const node of nodes) {
    const found = findForbidden(node);
    if (found) return found;
  }
  return undefined;
}

function findForbiddenMember(node: ASTNode, of: ASTNode, name: string): FilterProblem | undefined {
  if (of.op !== "id" || of.args !== "webhook") return findForbidden(of);
  return members.includes(name) ? undefined : problem(node, `webhook has no ${name}: ${membersSentence}`);
}

function findForbiddenCall(node: ASTNode, name: string, args: ASTNode[]): FilterProblem | undefined {
  if (!functions.includes(name)) {
    return problem(node, `Filters have no function ${name}(), only ${functions.join(", ")}`);
  }
  return firstForbidden(args) ?? (name === "matches" ? findForbiddenPattern(node, args[1]) : undefined);
}

function findForbiddenMethod(
  node: ASTNode,
  name: string,
  receiver: ASTNode,
  args: ASTNode[],
): FilterProblem | undefined {
  const forbidden = findForbidden(receiver);
  if (forbidden) return forbidden;
  if (!methods.includes(name)) {
    return problem(node, `Values have no function .${name}(), only ${methods.join(", ")}`);
  }
  // The type checker leaves the arguments alone where it does not know what the function is called on.
  const wrong = args.find((arg) => arg.op === "value" && typeof arg.args !== "string");
  if (wrong) return problem(wrong, `.${name}() takes a text`);
  return firstForbidden(args) ?? (name === "matches" ? findForbiddenPattern(node, args[0]) : undefined);
}

/** Patterns are written in the filter, not taken from the payload: so a wrong one is found before it is saved. */
function findForbiddenPattern(node: ASTNode, pattern: ASTNode | undefined): FilterProblem | undefined {
  if (pattern?.op !== "value" || typeof pattern.args !== "string") {
    return problem(pattern ?? node, "The pattern of matches() must be a text in quotes");
  }
  const sentence = findPatternProblem(pattern.args);
  return sentence === undefined ? undefined : problem(pattern, sentence);
}

function isKnownLiteral(value: unknown): boolean {
  return value === null || ["string", "bigint", "number", "boolean"].includes(typeof value);
}

/** Whether this is a text whatever the payload is like. */
function isText(node: ASTNode): boolean {
  if (node.op === "value") return typeof node.args === "string";
  if (node.op === "call") return node.args[0] === "string";
  if (node.op === "rcall") return textMethods.includes(node.args[0]);
  if (node.op === ".") return isTextMember(node.args[0], node.args[1]);
  if (node.op === "[]") return isMember(node.args[0], "headers");
  // Only what joins texts gets past the rule above.
  return node.op === "+";
}

function isTextMember(of: ASTNode, name: string): boolean {
  if (of.op !== "id") return isMember(of, "headers");
  return name === "id" || name === "created_at";
}

/** Whether this is that member of `webhook`, which is the only variable. */
function isMember(node: ASTNode, name: string): boolean {
  return node.op === "." && node.args[0].op === "id" && node.args[1] === name;
}

function problem(node: ASTNode, sentence: string): FilterProblem {
  return { sentence, at: node.pos };
}
