import type { H3Event } from "h3";
import { z } from "zod";
import { excerpt, type Problem, validationFailed } from "../../shared/refusal.ts";
import { isStorable, toProblems } from "../../shared/validation.ts";
import { cursorQuery } from "./json/list.ts";

// Filters of lists with cursors. Their schemas check the query or a body, and document it.

const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** RFC 3339 with an offset; or a date, which is its midnight in UTC. */
export function timeFilter(name: string) {
  const isTime = (value: string) => time.safeParse(value).success && new Date(value).getTime() >= 0;
  const error = `${name} must be a time such as 2026-01-31T00:00:00Z`;
  return z
    .string({ error })
    .refine(isTime, error)
    .optional()
    .meta({ format: "date-time", description: "RFC 3339 with an offset, or a date" });
}

export function textFilter(name: string, description: string) {
  return z
    .string({ error: `${name} must be text` })
    .max(255, `${name} is too long (maximum is 255 characters)`)
    .refine(isStorable, `${name} must be text without NUL`)
    .optional()
    .meta({ description });
}

export function choiceFilter<const Value extends string>(
  name: string,
  values: readonly Value[],
  description?: string,
) {
  const error = `${name} must be one of ${values.join(", ")}`;
  return z
    .enum(values, { error })
    .optional()
    .meta(description ? { description } : {});
}

/** An empty value counts as absent. A filter that is ignored would answer too much. @throws Refusal 422 */
export function readFilters<Shape extends z.ZodRawShape>(
  { url }: H3Event,
  shape: Shape,
): z.infer<z.ZodObject<Shape>> {
  const given = [...url.searchParams].filter(([, value]) => value !== "");
  const problems: Problem[] = [];
  for (const name of new Set(given.map(([name]) => name))) {
    const refuse = (message: string) => problems.push({ field: name, message });
    if (!(name in shape) && !(name in cursorQuery)) refuse(`There is no filter ${excerpt(name)}`);
    else if (url.searchParams.getAll(name).length > 1) refuse(`${name} can be given once only`);
  }
  const parsed = z.object(shape).safeParse(Object.fromEntries(given));
  if (!parsed.success) problems.push(...toProblems(parsed.error));
  if (problems.length > 0 || !parsed.success) throw validationFailed(...problems);
  return parsed.data;
}

export function toDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
