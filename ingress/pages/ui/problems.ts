import { type Problem, Refusal } from "../../../shared/refusal.ts";

/** REST members that a refusal may name, each with the field of the form that it is marked at. */
export type FieldNames = Readonly<Record<string, string>>;

/** `field` is a field of the form; empty: the form as a whole. */
export type FormProblems = readonly Problem[];

/**
 * Runs what the rules may refuse with a 422. Anything else is thrown on.
 * @param fieldNames problems with other members are about the form as a whole
 */
export async function tryForm<T>(
  run: () => Promise<T>,
  fieldNames: FieldNames = {},
): Promise<{ done: T } | { problem: string; problems: FormProblems }> {
  try {
    return { done: await run() };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 422) throw error;
    const unnamed = { field: "", message: error.message.replace(/^Validation failed: /, "") };
    const problems = (error.problems.length > 0 ? error.problems : [unnamed]).map(({ field, message }) => ({
      field: fieldNames[field] ?? "",
      message,
    }));
    return { problem: asSentence(problems), problems };
  }
}

/** `Key can't be blank, Description is too long.` */
export function asSentence(problems: readonly (Problem | string)[]): string {
  const messages = problems.map((problem) => (typeof problem === "string" ? problem : problem.message));
  return `${messages.join(", ").trimEnd()}.`;
}
