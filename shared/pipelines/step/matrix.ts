import { z } from "zod";
import { anything, documentationOf, isMap, listOf, parseEntries } from "../../collections.ts";
import { excerpt } from "../../refusal.ts";
import { isStorable } from "../../validation.ts";
import type { CommandStep, Matrix, MatrixAdjustment, StepOptions } from "../../vocabulary.ts";
import { allAdjustmentsHold, countCombinations, dimensionsOf, tokensOf } from "../matrix.ts";
import { member } from "./declaration.ts";
import { softFail } from "./failures.ts";
import { nullable, oneOf, scalarToText } from "./forms.ts";
import { givenSkip, toSkip } from "./skip.ts";

// The matrix of a step, as callers give it.

/** The setting JOBS_PER_MATRIX may allow fewer. */
const maxJobsOfMatrix = 2000;
const max = { dimensions: 6, values: 25, bytes: 128, adjustments: 12, jobs: maxJobsOfMatrix };

const scalars = [z.string(), z.number(), z.boolean()] as const;
const value = anything()
  .transform((given, context): string => {
    const text = scalarToText(given);
    if (text === undefined) context.addIssue("Step matrix values must be text");
    else if (!isStorable(text)) context.addIssue("Step matrix values must be text without NUL");
    else if (Buffer.byteLength(text) > max.bytes)
      context.addIssue(`Step matrix values can have ${max.bytes} bytes at most`);
    return text ?? "";
  })
  .meta(documentationOf(z.union(scalars)));
const values = z.preprocess(
  (given) => (scalarToText(given) === undefined ? given : [given]),
  listOf(value, {
    error: "Step matrix dimensions must be lists",
    max: max.values,
    tooMany: `Step matrix dimensions can have ${max.values} values at most`,
  }),
);

/** Of names, so that `__proto__` is one like others. */
function dimensionMap<Value extends z.ZodType>(schema: Value, error: string) {
  return anything()
    .transform((given, context): Record<string, z.output<Value>> => {
      if (!isMap(given)) {
        context.addIssue(error);
        return {};
      }
      const entries = Object.entries(given);
      if (entries.length > max.dimensions) {
        context.addIssue(`Step matrix can have ${max.dimensions} dimensions at most`);
        return {};
      }
      for (const [name] of entries)
        if (!/^[\w.-]+$/.test(name) || name === "__proto__" || name.length > max.bytes)
          context.addIssue(
            `Step matrix dimensions must have names of letters, digits, _, - and ., not ${JSON.stringify(excerpt(name))}`,
          );
      return Object.fromEntries(parseEntries(entries, schema, context));
    })
    .meta(documentationOf(z.record(z.string(), schema)));
}

const setup = oneOf(
  {
    list: values,
    object: dimensionMap(values, "Step matrix setup must be an object"),
  },
  "Step matrix setup must be a list or an object",
);

const withError = "Step matrix adjustments must say with what values they hold";
const adjustment = z.object(
  {
    with: oneOf(
      {
        text: value,
        number: value,
        boolean: value,
        list: listOf(value, { error: withError, max: 1 })
          .refine((given) => given.length === 1, withError)
          .transform(([only]) => only as string),
        object: dimensionMap(value, withError),
      },
      withError,
    ).meta(documentationOf(z.union([...scalars, z.array(value).length(1), z.record(z.string(), value)]))),
    skip: givenSkip("Step matrix skip"),
    ...softFail.given,
  },
  { error: "Step matrix adjustments must be objects" },
);

const definition = z.object({
  setup,
  adjustments: nullable(
    listOf(adjustment, {
      error: "Step matrix adjustments must be a list",
      max: max.adjustments,
      tooMany: `Step matrix can have ${max.adjustments} adjustments at most`,
    }),
  ),
});

const givenMatrix = nullable(
  oneOf(
    { list: values.transform((setup) => ({ setup, adjustments: undefined })), object: definition },
    "Step matrix must be a list or an object",
  )
    .transform(
      ({ setup, adjustments = [] }): Matrix => ({
        setup,
        ...(adjustments.length > 0 && { adjustments: adjustments.map(toAdjustment) }),
      }),
    )
    .superRefine((matrix, context) => {
      const problem = matrixProblem(matrix);
      if (problem) context.addIssue(problem);
    }),
).meta({ description: "The step becomes a job for each combination of values" });

function toAdjustment(given: z.output<typeof adjustment>): MatrixAdjustment {
  const skip = toSkip(given.skip);
  const soft_fail = (given as Record<string, unknown>).soft_fail;
  return {
    with: given.with as MatrixAdjustment["with"],
    ...(skip !== undefined && { skip }),
    // False takes away what the step says.
    ...(soft_fail !== undefined && {
      soft_fail: (softFail.parse({ soft_fail }) ?? false) as StepOptions["soft_fail"],
    }),
  };
}

function matrixProblem(matrix: Matrix): string | undefined {
  const names = dimensionsOf(matrix).map(([name]) => name);
  const adjustments = matrix.adjustments ?? [];
  const given = adjustments.map(({ with: values }) =>
    typeof values === "string" ? [""] : Object.keys(values),
  );
  if (given.some((own) => own.length === 0 || !own.every((name) => names.includes(name))))
    return "Step matrix adjustments must name values of its dimensions, and no other";
  const jobs = countCombinations(matrix);
  if (jobs > max.jobs) return `Step matrix can become ${max.jobs} jobs at most`;
  if (names.length === 0) return "Step matrix has no values";
  if (!allAdjustmentsHold(matrix))
    return "Step matrix adjustments that make a new combination must name a value for each dimension";
  return jobs === 0 ? "Step matrix has no values" : undefined;
}

export const matrix = member({
  given: { matrix: givenMatrix },
  parse: ({ matrix }) => matrix as Matrix | undefined,
  stored: z.object({
    setup: z.union([z.array(z.string()), z.record(z.string(), z.array(z.string()))]),
    adjustments: z
      .array(
        z.object({
          with: z.union([z.string(), z.record(z.string(), z.string())]),
          skip: z.union([z.boolean(), z.string()]).optional(),
          soft_fail: softFail.stored.optional(),
        }),
      )
      .optional(),
  }),
});

/** Says which token of a step names no dimension of its matrix. */
export function tokenProblem(step: CommandStep): string | undefined {
  if (!step.matrix) return undefined;
  const names = new Set(dimensionsOf(step.matrix).map(([name]) => name));
  const unknown = [...tokensOf(step).keys()].find((name) => !names.has(name));
  if (unknown === undefined) return undefined;
  return `Step uses {{matrix${unknown && `.${excerpt(unknown)}`}}}, which its matrix does not have`;
}
