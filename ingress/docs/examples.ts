import { readFileSync } from "node:fs";

/** A real exchange of the tests, with sample values for ids, times and tokens. */
export interface Example {
  summary: string;
  /** Parameters by name. */
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  answer: { status: number; body?: unknown };
}

/** By the id of the operation. The first example of each is the ordinary one. */
export type Examples = Record<string, Example[]>;

/** Reads the file that `npm run examples` writes. */
export function readExamples(): Examples {
  return JSON.parse(readFileSync(new URL("examples.json", import.meta.url), "utf8"));
}

/** Returns the `examples` of a media type, without those that have no value. */
export function describeExamples(examples: Example[], read: (example: Example) => unknown) {
  const shown = examples
    .map((example) => ({ summary: example.summary, value: read(example) }))
    .filter(({ value }) => value !== undefined);
  if (shown.length === 0) return {};
  return {
    examples: Object.fromEntries(shown.map((each, index) => [`example${index + 1}`, each])),
  };
}
