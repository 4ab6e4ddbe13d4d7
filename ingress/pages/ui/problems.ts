import type { z } from "zod";
import { type Problem, Refusal, validationFailed } from "../../../shared/refusal.ts";
import { problemsOf } from "../../../shared/validation.ts";

/** Fields of a form, by the REST members of their problems. */
export type FieldNames = Readonly<Record<string, string>> | ((member: string) => string | undefined);

/** Names fields of a form. An empty field: the form as a whole. */
export type FormProblems = readonly Problem[];

/**
 * Catches a refusal with 422.
 * @param fieldNames a problem of any other member is about the form as a whole
 */
export async function tryForm<T>(
  run: () => Promise<T>,
  fieldNames: FieldNames = {},
): Promise<{ done: T } | { problems: FormProblems }> {
  try {
    return { done: await run() };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 422) throw error;
    const unnamed = { field: "", message: error.message.replace(/^Validation failed: /, "") };
    const problems = error.problems.length > 0 ? error.problems : [unnamed];
    const nameOf = typeof fieldNames === "function" ? fieldNames : (member: string) => fieldNames[member];
    return { problems: problems.map(({ field, message }) => ({ field: nameOf(field) ?? "", message })) };
  }
}

/**
 * The schema names REST members, as a refusal does.
 * @throws Refusal 422
 */
export function requireValid(schema: z.ZodObject, draft: object): void {
  const problems = problemsOf(schema, draft);
  if (problems.length > 0) throw validationFailed(...problems);
}

/** `Key can't be blank, Description is too long.` */
export function asSentence(problems: readonly (Problem | string)[]): string {
  const messages = problems.map((problem) => (typeof problem === "string" ? problem : problem.message));
  return `${messages.join(", ").replace(/[\s.]+$/, "")}.`;
}
