import type { Environment } from "@marcbachmann/cel-js";
import { LRUCache } from "lru-cache";
import { RE2JS, RE2JSSyntaxException } from "re2js";

/** Below this the engine's own search is fast whatever the texts are. */
const shortNeedle = 256;

const patterns = new LRUCache<string, RE2JS>({ max: 200 });

/**
 * The functions of the library that a hostile payload can make slow, and ours instead. `matches` runs a
 * backtracking RegExp there, and `contains` a search that took six minutes to not find one megabyte in three.
 * The library lets nobody replace a function, so ours have names of their own.
 */
export const replacements = new Map([
  ["matches", "linear_matches"],
  ["contains", "linear_contains"],
]);

export function registerReplacements(environment: Environment): void {
  const sync = { async: false };
  environment
    .registerFunction("linear_matches(string, string): bool", matches, sync)
    .registerFunction("string.linear_matches(string): bool", matches, sync)
    .registerFunction("string.linear_contains(string): bool", contains, sync);
}

/** What is wrong with a pattern; undefined: nothing. */
export function findPatternProblem(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) return "The pattern cannot be used";
    return `The pattern cannot be used: ${error.getDescription()}`;
  }
}

function compilePattern(pattern: string): RE2JS {
  const known = patterns.get(pattern);
  if (known) return known;
  const compiled = RE2JS.compile(pattern);
  patterns.set(pattern, compiled);
  return compiled;
}

/** Whether any part of the text matches, in time proportional to its length. */
function matches(text: string, pattern: string): boolean {
  return compilePattern(pattern).test(text);
}

/** Whether one text is part of another, in time proportional to their lengths (Knuth, Morris and Pratt). */
export function contains(text: string, needle: string): boolean {
  if (needle.length <= shortNeedle) return text.includes(needle);
  if (needle.length > text.length) return false;

  const borders = bordersOf(needle);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number;
    if (needle.charCodeAt(matched) === unit) matched++;
    if (matched === needle.length) return true;
  }
  return false;
}

/** For each beginning of the needle, how long the longest shorter beginning is that it also ends with. */
function bordersOf(needle: string): Uint32Array {
  const borders = new Uint32Array(needle.length);
  for (let at = 1, length = 0; at < needle.length; at++) {
    const unit = needle.charCodeAt(at);
    while (length > 0 && needle.charCodeAt(length) !== unit) length = borders[length - 1] as number;
    if (needle.charCodeAt(length) === unit) length++;
    borders[at] = length;
  }
  return borders;
}
