import { LRUCache } from "lru-cache";
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { patternSize } from "./pattern-size.ts";

/** V8's own search is fast up to here. */
const maxShortNeedle = 256;

/** Compiling blocks the event loop for up to 50 ms. */
const maxPatternSize = 5000;
/** The limit of all compiled patterns, in parts: a part takes about 200 bytes. */
const maxSizeInMemory = 100_000;
const patterns = new LRUCache<string, RE2JS>({
  max: 200,
  maxSize: maxSizeInMemory,
  sizeCalculation: (_compiled, pattern) => Math.max(1, patternSize(pattern)),
});

export function findPatternProblem(pattern: string): string | undefined {
  if (patternSize(pattern) > maxPatternSize)
    return `The pattern repeats too much (maximum is ${maxPatternSize.toLocaleString("en-US")} parts)`;
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

/** Linear: the library's RegExp backtracks. */
export function matches(text: string, pattern: string): boolean {
  return compilePattern(pattern).test(text);
}

/**
 * Linear (Knuth, Morris and Pratt). V8 took six minutes to search three megabytes for one; Buffer is as slow. RE2JS
 * would have to compile the needle, which takes four seconds for a megabyte of a payload.
 */
export function contains(text: string, needle: string): boolean {
  if (needle.length <= maxShortNeedle) return text.includes(needle);
  if (needle.length > text.length) return false;

  const borders = bordersOf(needle);
  let matched = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number;
    if (needle.charCodeAt(matched) === unit) matched++;
    if (matched === needle.length) return true;
  }
  return false;
}

/** The longest border of each prefix. */
function bordersOf(needle: string): Uint32Array {
  const borders = new Uint32Array(needle.length);
  for (let index = 1, length = 0; index < needle.length; index++) {
    const unit = needle.charCodeAt(index);
    while (length > 0 && needle.charCodeAt(length) !== unit) length = borders[length - 1] as number;
    if (needle.charCodeAt(length) === unit) length++;
    borders[index] = length;
  }
  return borders;
}
