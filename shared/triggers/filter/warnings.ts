import type { ASTNode } from "@marcbachmann/cel-js";
import { findLetterClass } from "../../patterns.ts";
import { compileFilter } from "./compile.ts";
import { isNode } from "./read-values.ts";
import { ownName } from "./rules.ts";

/** Warns of a pattern that may not mean what its author thinks. Undefined also for a wrong filter. */
export function findFilterWarning(expression: string): string | undefined {
  const compiled = compileFilter(expression);
  if ("problem" in compiled) return undefined;
  const found = findLetterClass(listPatterns(compiled.ast));
  return found && `${found.sentence}. To find the text, write contains("[${found.word}]").`;
}

/** Lists the patterns of a filter. Each is a literal, and the last argument of `matches`. */
function listPatterns(node: ASTNode): string[] {
  const parts: ASTNode[] = [node.args].flat(2).filter(isNode);
  const isMatch = (node.op === "call" || node.op === "rcall") && node.args[0] === ownName("matches");
  const pattern = isMatch ? parts.at(-1)?.args : undefined;
  const own = typeof pattern === "string" ? [pattern] : [];
  return [...own, ...parts.flatMap(listPatterns)];
}
