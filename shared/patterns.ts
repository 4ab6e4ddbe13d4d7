import { LRUCache } from "lru-cache";
import { RE2JS, RE2JSSyntaxException } from "re2js";

// Regular expressions of callers. The library's time is linear in the text: RegExp backtracks.

export interface PatternProblem {
  sentence: string;
  /** The part of the pattern that is wrong, if the library names one. */
  fragment?: string;
}

/** The limit of all compiled patterns, in parts: a part takes about 200 bytes. */
const maxSizeInMemory = 100_000;
const patterns = new LRUCache<string, RE2JS>({
  max: 200,
  maxSize: maxSizeInMemory,
  sizeCalculation: (_compiled, pattern) => Math.max(1, patternSize(pattern)),
});

/** @param maxSize in parts: compiling blocks the event loop for about 10 µs a part */
export function findPatternProblem(pattern: string, maxSize: number): PatternProblem | undefined {
  if (patternSize(pattern) > maxSize)
    return { sentence: `The pattern repeats too much (maximum is ${maxSize.toLocaleString("en-US")} parts)` };
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) return { sentence: "The pattern cannot be used" };
    return {
      sentence: `The pattern cannot be used: ${error.getDescription()}`,
      fragment: error.getPattern() ?? undefined,
    };
  }
}

/** @param pattern one without a problem */
export function matches(text: string, pattern: string): boolean {
  return compilePattern(pattern).test(text);
}

/**
 * Like `matches`, but keeps nothing: what the library notes while it matches may take 8 MB a pattern.
 * @param pattern one without a problem
 */
export function matchesOnce(text: string, pattern: string): boolean {
  return RE2JS.compile(pattern).test(text);
}

function compilePattern(pattern: string): RE2JS {
  const known = patterns.get(pattern);
  if (known) return known;
  const compiled = RE2JS.compile(pattern);
  patterns.set(pattern, compiled);
  return compiled;
}

const inWords = new Intl.ListFormat("en-GB");

/**
 * Finds the first pattern that is only a character class of letters, such as `[skip]`: its author may mean the text. A
 * range or a repetition says that the class is meant.
 */
export function findLetterClass(patterns: string[]): { word: string; sentence: string } | undefined {
  for (const pattern of patterns) {
    const [, word] = /^(?:\(\?i\))?\[([a-z]{2,})\]$/i.exec(pattern) ?? [];
    if (word === undefined) continue;
    return { word, sentence: `[${word}] matches one of the letters ${inWords.format(new Set(word))}` };
  }
  return undefined;
}

const part = /\\[pP](?:\{[^}]*\}|.)|\\x\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(,?)(\d*)\}|./gsu;

/**
 * Estimates the parts of a pattern after its repetitions are written out, as the library does: compiling takes 10 µs a
 * part, and a short pattern may have 20,000. Never too few: an odd pattern counts as more than it has.
 */
export function patternSize(pattern: string): number {
  /** Sizes of the open groups, outermost first. */
  const groups = [0];
  let last = 0;
  for (const [text, min, comma, max] of pattern.matchAll(part)) {
    const group = groups.length - 1;
    if (text === "(") {
      groups.push(0);
      last = 0;
    } else if (text === ")" && group > 0) {
      last = (groups.pop() as number) + 1;
      groups[group - 1] = (groups[group - 1] as number) + last;
    } else if (min !== undefined) {
      const more = last * (repetitions(Number(min), comma === "," ? max : min) - 1);
      groups[group] = (groups[group] as number) + Math.max(0, more);
      last += Math.max(0, more);
    } else {
      last = text === ")" ? (groups[0] as number) : 1;
      groups[group] = (groups[group] as number) + 1;
    }
  }
  return groups.reduce((sum, size) => sum + size, 0);
}

/** An optional repetition has a branch of its own. */
function repetitions(min: number, max: string | undefined): number {
  return max ? min + 2 * Math.max(0, Number(max) - min) : min + 1;
}
