import { formatOf, matchesFormat } from "../../pipelines/step/formats.ts";
import { andMore, excerpt, type Problem } from "../../refusal.ts";
import type { ManualField } from "../../vocabulary.ts";
import type { Entry } from "./meta-data.ts";

// The answers of the person who unblocks a step. They become meta-data.

/** The refusal names this many of the unknown fields: a request may have thousands. */
const maxUnknown = 10;

/** By the key of the field. Null: as if it were absent. */
export type GivenAnswers = Record<string, string | string[] | null>;

/**
 * Checks answers. An absent one is the default of its field, or blank.
 * @returns problems name the field as `fields.<key>`
 */
export function readAnswers(
  fields: ManualField[],
  given: GivenAnswers,
): { entries: Entry[]; problems: Problem[] } {
  const known = new Set(fields.map(({ key }) => key));
  const unknown = Object.keys(given).filter((key) => !known.has(key));
  const problems = unknown
    .slice(0, maxUnknown)
    .map((key) => ({ field: "fields", message: `There is no field ${JSON.stringify(excerpt(key))}` }));
  if (unknown.length > maxUnknown) problems.push({ field: "fields", message: andMore });
  const entries = fields.map((field): Entry => {
    const { key } = field;
    const answer = (Object.hasOwn(given, key) ? given[key] : undefined) ?? field.default ?? "";
    const values = valuesOf(field, answer);
    const problem = problemOf(field, values);
    if (problem) problems.push({ field: `fields.${key}`, message: `Field ${key} ${problem}` });
    return { key, value: values.join("\n") };
  });
  return { entries, problems };
}

/** Browsers send line breaks as CRLF. */
function valuesOf(field: ManualField, answer: string | string[]): string[] {
  const texts = [answer].flat().map((text) => text.replaceAll("\r\n", "\n"));
  if (!("select" in field) || !field.multiple) return texts;
  return [...new Set(texts.flatMap((text) => text.split("\n")).filter((text) => text !== ""))];
}

function problemOf(field: ManualField, values: string[]): string | undefined {
  const isMultiple = "select" in field && field.multiple === true;
  if (values.length > 1 && !isMultiple) return "takes one value only";
  const isBlank = values.every((value) => value.trim() === "");
  if (isBlank) return field.required === false ? undefined : "can't be blank";
  if ("select" in field) {
    const options = new Set(field.options.map(({ value }) => value));
    return values.every((value) => options.has(value)) ? undefined : "must be one of its options";
  }
  const format = formatOf(field);
  const matches = format === undefined || matchesFormat(values[0] ?? "", format);
  if (matches === undefined) return "is too long to be compared with its format";
  return matches ? undefined : `must match ${format}`;
}
