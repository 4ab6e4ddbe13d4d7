import { z } from "zod";
import { documentationOf, isMap, listOf } from "../../collections.ts";
import type { ManualField } from "../../vocabulary.ts";
import { member } from "./declaration.ts";
import { choice, nullable, oneOf, optionalText, text, truth } from "./forms.ts";

// The fields of a block or an input step: questions to the person who unblocks it.

/** Of a block or an input. */
export const maxFields = 50;
const maxOptions = 200;
const maxNameLength = 255;
const maxHintLength = 2000;
const maxValueLength = 10_000;
const maxFormatLength = 1000;

const scalars = [z.string(), z.number(), z.boolean()] as const;

const missing = "Step fields must have a key, the name of the meta-data";
const common = {
  key: text("Step fields key", maxNameLength)
    .refine((given) => /^[\w/-]*$/.test(given), "Step fields key can only have letters, digits, -, _ and /")
    .refine((given) => given !== "", missing)
    .optional()
    .transform((given, context) => {
      if (given === undefined) context.addIssue(missing);
      return given ?? "";
    }),
  hint: optionalText("Step fields hint", maxHintLength),
  required: truth("Step fields required").meta({ description: "Default: true" }),
};

const defaultValue = text("Step fields default", maxValueLength);

const textField = z
  .object({
    ...common,
    text: text("Step fields text", maxNameLength),
    default: nullable(defaultValue),
    format: optionalText("Step fields format", maxFormatLength).meta({
      description: "A regular expression that all of the answer must match",
    }),
  })
  .transform((given): ManualField => {
    const { key, text, hint, required, default: standard, format } = given;
    return present({ text, key, hint, ...optional(required), default: standard, format });
  });

const option = z.object(
  {
    label: text("Step fields options label", maxNameLength),
    value: text("Step fields options value", maxValueLength),
  },
  { error: "Step fields options must have a label and a value" },
);

const defaultError = "Step fields default must be text or a list of text";
const optionsError = "Step fields options must be a list of at least one label and value";
const selectField = z
  .object({
    ...common,
    select: text("Step fields select", maxNameLength),
    options: listOf(option, {
      error: optionsError,
      max: maxOptions,
      tooMany: `Step fields options can be ${maxOptions} at most`,
    }).refine((given) => given.length > 0, optionsError),
    multiple: truth("Step fields multiple"),
    default: nullable(
      oneOf(
        {
          text: defaultValue,
          number: defaultValue,
          boolean: defaultValue,
          list: listOf(defaultValue, {
            error: defaultError,
            max: maxOptions,
            tooMany: `Step fields default can have ${maxOptions} values at most`,
          }),
        },
        defaultError,
      ).meta(documentationOf(z.union([...scalars, z.array(z.union(scalars))]))),
    ),
  })
  .superRefine(({ multiple, default: standard }, context) => {
    if (Array.isArray(standard) && !multiple)
      context.addIssue("Step fields default can be a list only with multiple");
  })
  .transform((given): ManualField => {
    const { key, select, hint, required, options, multiple, default: standard } = given;
    return present({
      select,
      key,
      hint,
      ...optional(required),
      options,
      ...(multiple && { multiple: true as const }),
      default: standard,
    });
  });

const fieldError = "Step fields must be objects with text or select";
const field = choice({ text: textField, select: selectField }, (given) => {
  const form = (["text", "select"] as const).find((name) => isMap(given) && (given[name] ?? null) !== null);
  return form ? { form, value: given } : { problem: fieldError };
});

function optional(required: boolean | undefined): { required?: false } {
  return required === false ? { required } : {};
}

function present(field: { [Name in string]: unknown }): ManualField {
  const entries = Object.entries(field).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as unknown as ManualField;
}

const givenFields = nullable(
  listOf(field, {
    error: "Step fields must be a list",
    max: maxFields,
    tooMany: `Step fields can be ${maxFields} at most`,
  }).superRefine((fields, context) => {
    const keys = new Set<string>();
    for (const [index, { key }] of fields.entries()) {
      if (keys.has(key)) context.addIssue({ code: "custom", message: twice(key), path: [index, "key"] });
      keys.add(key);
    }
  }),
).meta({ description: "Questions to the person who unblocks it. The answers become meta-data" });

function twice(key: string): string {
  return `Step fields have the key "${key}" twice`;
}

const stored = {
  key: z.string(),
  hint: z.string().optional(),
  required: z.literal(false).optional(),
};

export const fields = member({
  given: { fields: givenFields as z.ZodType<ManualField[] | undefined> },
  parse: ({ fields }) => (fields && fields.length > 0 ? fields : undefined),
  stored: z.array(
    z.union([
      z.object({
        text: z.string(),
        ...stored,
        default: z.string().optional(),
        format: z.string().optional(),
      }),
      z.object({
        select: z.string(),
        ...stored,
        options: z.array(z.object({ label: z.string(), value: z.string() })),
        multiple: z.literal(true).optional(),
        default: z.union([z.string(), z.array(z.string())]).optional(),
      }),
    ]),
  ),
});
