import type { GivenAnswers } from "../../../shared/builds/meta-data/answers.ts";
import type { ManualField } from "../../../shared/vocabulary.ts";
import { Check, CheckGroup, Field, Select, TextArea } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";

// The fields of a block or an input step in a form.

/** The name of a field. @param step its id or place: a page may ask the questions of several */
export function answerField(step: string | number, key: string): string {
  return `${step}.${key}`;
}

/** Reads the answers of a form. Those that it lacks are null. */
export function readAnswersOf(
  form: URLSearchParams,
  step: string | number,
  fields: ManualField[],
): GivenAnswers {
  return Object.fromEntries(
    fields.map((field) => {
      const name = answerField(step, field.key);
      return [field.key, takesSeveral(field) ? form.getAll(name) : form.get(name)];
    }),
  );
}

function takesSeveral(field: ManualField): boolean {
  return "select" in field && field.multiple === true;
}

interface AnswersProps {
  step: string | number;
  fields: ManualField[];
  /** Those of a form that was refused. */
  answers: GivenAnswers | undefined;
  problems: FormProblems | undefined;
  /** True: the form can be sent without answers. */
  mayBeBlank?: boolean;
}

/** Names questions as people read them: problems have their keys. */
export function withTitles(
  problems: FormProblems,
  step: string | number,
  fields: ManualField[],
): FormProblems {
  const titles = new Map(
    fields.map((field) => [answerField(step, field.key), { field, title: titleOf(field) }]),
  );
  return problems.map((problem) => {
    const named = titles.get(problem.field);
    if (!named) return problem;
    return { ...problem, message: problem.message.replace(`Field ${named.field.key} `, `${named.title} `) };
  });
}

function titleOf(field: ManualField): string {
  return ("text" in field ? field.text : field.select) || field.key;
}

/** Asks the questions of a step. */
export function Answers({ fields, ...rest }: AnswersProps) {
  return fields.map((field) => <Answer key={field.key} field={field} {...rest} />);
}

function Answer({
  field,
  step,
  answers,
  problems,
  mayBeBlank = false,
}: Omit<AnswersProps, "fields"> & { field: ManualField }) {
  const { key, required = true, hint } = field;
  const values = [answers?.[key] ?? field.default ?? ""].flat();
  const title = titleOf(field);
  const shared = {
    name: answerField(step, key),
    label: required ? title : `${title} (optional)`,
    ...(hint !== undefined && { hint }),
    problems,
  };
  if ("select" in field && takesSeveral(field)) {
    const chosen = new Set(values.flatMap((value) => value.split("\n")));
    return (
      <CheckGroup {...shared}>
        {field.options.map(({ value, label }) => (
          <Check key={value} label={label} name={shared.name} value={value} checked={chosen.has(value)} />
        ))}
      </CheckGroup>
    );
  }
  const [value = ""] = values;
  const isRequired = required && !mayBeBlank;
  if ("select" in field) {
    const options = field.options.map((option) => [option.value, option.label] as const);
    const isChosen = field.options.some((option) => option.value === value);
    const none = ["", required ? "Choose one" : "None"] as const;
    return (
      <Select
        {...shared}
        value={value}
        required={isRequired}
        options={required && isChosen ? options : [none, ...options]}
      />
    );
  }
  if (field.format !== undefined) return <Field {...shared} value={value} required={isRequired} />;
  return <TextArea {...shared} value={value} required={isRequired} rows={1} />;
}
