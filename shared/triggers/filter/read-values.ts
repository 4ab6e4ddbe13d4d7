import type { ASTNode } from "@marcbachmann/cel-js";
import type { WebhookVariable } from "./environment.ts";

// The values that an expression read, for its author: a verdict alone does not say why.

/** A member of the webhook as an expression names it. */
export interface NamedMember {
  text: string;
  path: (string | number)[];
}

export interface ReadValue {
  member: string;
  /** The name of the header that it is of, as filters have it. Empty: all headers. */
  header?: string;
  /** As JSON, or in words. Undefined: the webhook has no such member. */
  value: string | undefined;
}

const maxMembers = 20;
const maxValueLength = 200;

/** Lists the members that an expression names, each once, without those below an index that is computed. */
export function namedMembers(node: ASTNode): NamedMember[] {
  const found = new Map<string, NamedMember>();
  collect(node, found);
  return [...found.values()].slice(0, maxMembers);
}

function collect(node: ASTNode, found: Map<string, NamedMember>): void {
  const path = pathOf(node);
  if (path) {
    const text = node.input.slice(node.range.start, node.range.end);
    found.set(text, { text, path });
    return;
  }
  const parts: unknown[] = [node.args].flat(2);
  for (const part of parts) if (isNode(part)) collect(part, found);
}

export function isNode(part: unknown): part is ASTNode {
  return typeof part === "object" && part !== null && "op" in part;
}

/** The names behind `webhook`. Undefined for any other expression. */
function pathOf(node: ASTNode): NamedMember["path"] | undefined {
  if (node.op !== "." && node.op !== "[]") return undefined;
  const [of, name] = node.args;
  const key = typeof name === "string" ? name : keyOf(name);
  if (key === undefined) return undefined;
  if (of.op === "id") return of.args === "webhook" ? [key] : undefined;
  const above = pathOf(of);
  return above && [...above, key];
}

function keyOf(index: ASTNode): string | number | undefined {
  if (index.op !== "value") return undefined;
  const { args: key } = index;
  if (typeof key === "bigint") return Number(key);
  return typeof key === "string" || typeof key === "number" ? key : undefined;
}

/** Reads each member from a webhook. */
export function readValues(members: NamedMember[], webhook: WebhookVariable): ReadValue[] {
  return members.map(({ text, path }) => ({
    member: text,
    ...(path[0] === "headers" && { header: String(path[1] ?? "") }),
    value: valueInWords(find(webhook, path)),
  }));
}

function find(webhook: WebhookVariable, path: NamedMember["path"]): unknown {
  const [first = "", ...rest] = path;
  const root: unknown = Object.hasOwn(webhook, first) ? webhook[first as keyof WebhookVariable] : undefined;
  return rest.reduce((value, key) => {
    if (value instanceof Map) return value.get(key);
    return Array.isArray(value) && typeof key === "number" ? value[key] : undefined;
  }, root);
}

/** As JSON, or in words. Undefined stays. */
export function valueInWords(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value instanceof Map) return `a map of ${value.size}`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "bigint") return String(value);
  const text = JSON.stringify(typeof value === "string" ? value.slice(0, maxValueLength) : value);
  return typeof value === "string" && value.length > maxValueLength ? `${text.toWellFormed()}…` : text;
}
