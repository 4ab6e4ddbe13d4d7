// An allow-list: the library cannot turn off functions, macros or operators. Left out on purpose:
//
//   loops (all, exists, exists_one, map, filter, cel.bind)   cost more than the payload's length
//   split, join, substring, indexOf, bytes, maps in braces   build values, some far larger than the payload
//   arithmetic                                               + joins texts

import { type ASTNode, TypeError as TypeProblem } from "@marcbachmann/cel-js";
import { serialize } from "@marcbachmann/cel-js/serialize";
import { findPatternProblem } from "../../patterns.ts";
import { environment, ownFunctions, ownPrefix } from "./environment.ts";

/** Compiling it blocks the event loop for up to 50 ms. */
const maxPatternSize = 5000;

export interface RuleViolation {
  sentence: string;
  index: number;
}

const members = ["id", "created_at", "payload", "headers"];
const membersSentence = `write ${members.map((name) => `webhook.${name}`).join(", ")}`;

const functions = ["has", "size", "matches", "string", "double", "int", "bool", "timestamp", "duration"];
const methods = ["size", "contains", "startsWith", "endsWith", "matches", "lowerAscii", "upperAscii", "trim"];

/** Also replaces functions in the tree by our own. */
export function applyRules(node: ASTNode): RuleViolation | undefined {
  switch (node.op) {
    case "value":
      return isKnownLiteral(node.args)
        ? undefined
        : violation(node, "Bytes and unsigned numbers are not available");
    case "id":
      if (node.args === "webhook")
        return violation(node, `webhook is not a value by itself: ${membersSentence}`);
      return violation(node, `Unknown variable ${node.args}: the only one is webhook`);
    case ".":
      return checkMember(node, node.args[0], node.args[1]);
    case "call":
      return checkCall(node, node.args);
    case "rcall":
      return checkMethod(node, node.args);
    case "+":
      return checkAll(node.args) ?? checkJoin(node);
    case "-":
    case "*":
    case "/":
    case "%":
      return violation(node, `Filters compare, they do not compute: ${node.op} is not available`);
    case "-_":
      if (node.args.op === "value") return applyRules(node.args);
      return violation(node, "Filters compare, they do not compute: - must be followed by a number");
    case "!_":
      return applyRules(node.args);
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
      return checkAll(node.args);
    default:
      return violation(
        node,
        node.op === "map" ? "Maps cannot be written in filters" : `${node.op} is not available`,
      );
  }
}

function checkAll(nodes: ASTNode[]): RuleViolation | undefined {
  for (const node of nodes) {
    const found = applyRules(node);
    if (found) return found;
  }
  return undefined;
}

function checkMember(node: ASTNode, object: ASTNode, name: string): RuleViolation | undefined {
  if (object.op !== "id" || object.args !== "webhook") return applyRules(object);
  return members.includes(name) ? undefined : violation(node, `webhook has no ${name}: ${membersSentence}`);
}

function checkCall(node: ASTNode, call: [name: string, args: ASTNode[]]): RuleViolation | undefined {
  const [name, args] = call;
  if (!functions.includes(name)) {
    return violation(node, `Filters have no function ${name}(), only ${functions.join(", ")}`);
  }
  call[0] = ownName(name);
  return checkAll(args) ?? (name === "matches" ? checkPattern(node, args[1]) : undefined);
}

function checkMethod(
  node: ASTNode,
  call: [name: string, receiver: ASTNode, args: ASTNode[]],
): RuleViolation | undefined {
  const [name, receiver, args] = call;
  const found = applyRules(receiver);
  if (found) return found;
  if (!methods.includes(name)) {
    return violation(node, `Values have no function .${name}(), only ${methods.join(", ")}`);
  }
  call[0] = ownName(name);
  // The type checker ignores arguments of unknown receivers.
  const wrong = args.find((arg) => arg.op === "value" && typeof arg.args !== "string");
  if (wrong) return violation(wrong, `.${name}() takes a text`);
  return checkAll(args) ?? (name === "matches" ? checkPattern(node, args[0]) : undefined);
}

/** The name that a function has in the tree after `applyRules`. */
export function ownName(name: string): string {
  return ownFunctions.includes(name) ? ownPrefix + name : name;
}

/** Literals only: a wrong pattern is never saved. */
function checkPattern(node: ASTNode, pattern: ASTNode | undefined): RuleViolation | undefined {
  if (pattern?.op !== "value" || typeof pattern.args !== "string") {
    return violation(pattern ?? node, "The pattern of matches() must be a text in quotes");
  }
  const problem = findPatternProblem(pattern.args, maxPatternSize);
  return problem && violation(pattern, problem.sentence);
}

/** Types are checked later. */
function checkJoin(node: ASTNode): RuleViolation | undefined {
  const { valid, type, error } = environment.check(serialize(node));
  if (valid ? type === "string" : error instanceof TypeProblem) return undefined;
  return violation(node, "Filters do not compute: + needs a text on one side");
}

function isKnownLiteral(value: unknown): boolean {
  return value === null || ["string", "bigint", "number", "boolean"].includes(typeof value);
}

function violation(node: ASTNode, sentence: string): RuleViolation {
  return { sentence, index: node.pos };
}
