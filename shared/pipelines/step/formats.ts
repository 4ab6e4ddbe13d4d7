import { findPatternProblem, matchesOnce, patternSize } from "../../patterns.ts";
import type { ManualField } from "../../vocabulary.ts";

// The formats of text fields: regular expressions that all of an answer must match.

const maxSize = 500;
/** Of all formats of a document: compiling blocks the event loop. */
const maxSizeOfAll = 5000;
/** In parts times characters. */
const maxWork = 2_000_000;

/** Says what is wrong with formats, one document at a time. Undefined: nothing. */
export function formatChecker(): (format: string) => string | undefined {
  const found = new Map<string, string | undefined>();
  let left = maxSizeOfAll;
  return (format) => {
    if (found.has(format)) return found.get(format);
    left -= patternSize(format);
    const problem =
      left < 0
        ? "The formats of all fields are too large together: use smaller repetitions"
        : findPatternProblem(wholeOf(format), maxSize)?.sentence.replace("The pattern", "Step fields format");
    found.set(format, problem);
    return problem;
  };
}

/** Takes time linear in the text. Undefined: the text is too long to be looked at. */
export function matchesFormat(text: string, format: string): boolean | undefined {
  if (text.length * patternSize(format) > maxWork) return undefined;
  return matchesOnce(text, wholeOf(format));
}

function wholeOf(format: string): string {
  return `\\A(?:${format})\\z`;
}

/** The format of a field, if it has one. */
export function formatOf(field: ManualField): string | undefined {
  return "text" in field ? field.format : undefined;
}
