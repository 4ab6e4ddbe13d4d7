import type { Attempt } from "../traffic/call.ts";

/** A difference between the ledger and what callers were answered, or should find. */
export interface Discrepancy {
  /** Such as `deliveries`: a report has the first few of each. */
  check: string;
  title: string;
  /** Its requests, for the story; none if it is of no request. */
  attempts: Attempt[];
}

/** A title, with the requests of its story if there are any. */
export type Problem = string | [title: string, attempts: Attempt[]];

/** Makes a check of a function that finds problems. */
export function checkOf<Args extends unknown[]>(check: string, find: (...args: Args) => Iterable<Problem>) {
  return (...args: Args): Discrepancy[] =>
    [...find(...args)].map((problem) => {
      const [title, attempts] = typeof problem === "string" ? [problem, []] : problem;
      return { check, title, attempts };
    });
}

/** The story of something that was seen. */
export function seen(request: string, answer: string, fromMs: number, untilMs = fromMs): Attempt[] {
  return [{ fromMs, untilMs, request, answer }];
}
