import type { GivenAnswers } from "../../../shared/builds/answers.ts";
import type { Job } from "../../../shared/builds/job-store.ts";
import { isForAdmins } from "../../../shared/builds/unblock.ts";
import { patterns } from "../../../shared/paths.ts";
import type { ManualField, SelectField } from "../../../shared/vocabulary.ts";
import { jobPath } from "../address/build.ts";
import { titleOf } from "../job-facts/titles.ts";
import { Check, CsrfField, Field, FormError, Notes, Select, TextArea } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import type { FormProblems } from "../ui/problems.ts";

/** A form that was refused, with its answers. */
export interface RefusedUnblocking {
  jobId: string;
  problems: FormProblems;
  answers: GivenAnswers;
}

interface UnblockProps {
  job: Job;
  refused: RefusedUnblocking | undefined;
  request: MemberRequest;
}

/** The name of a field in the form of a job: a page may have several forms. */
export function answerField(jobId: string, key: string): string {
  return `${jobId}.${key}`;
}

/** Reads the answers of a form. */
export function readAnswersOf(form: URLSearchParams, { id, options }: Job): GivenAnswers {
  const fields = options?.manual?.fields ?? [];
  return Object.fromEntries(
    fields.map((field) => {
      const name = answerField(id, field.key);
      return [field.key, takesSeveral(field) ? form.getAll(name) : form.get(name)];
    }),
  );
}

function takesSeveral(field: ManualField): boolean {
  return "select" in field && field.multiple === true;
}

/** The steps that somebody can unblock now, each with its form. */
export function Unblocks({ jobs, ...rest }: Omit<UnblockProps, "job"> & { jobs: Job[] }) {
  if (jobs.length === 0) return null;
  return (
    <section aria-labelledby="unblock">
      <h2 id="unblock">Waits for you</h2>
      {jobs.map((job) => (
        <Unblock key={job.id} job={job} {...rest} />
      ))}
    </section>
  );
}

function Unblock({ job, refused, request }: UnblockProps) {
  const { prompt, submit = "Continue", fields = [] } = job.options?.manual ?? {};
  const own = refused?.jobId === job.id ? refused : undefined;
  const mayUnblock = !isForAdmins(job) || request.role === "admin";
  const title = `unblock-${job.id}`;
  return (
    <section class="card" aria-labelledby={title}>
      <h3 id={title}>{titleOf(job)}</h3>
      {prompt && <p>{prompt}</p>}
      <p class="quiet">
        {isForAdmins(job)
          ? "Only admins of the organization can unblock it: its step names allowed_teams, and there are no teams here."
          : "All members of the organization can unblock it."}
      </p>
      {mayUnblock && (
        <form method="post" action={jobPath(request, job.id, patterns.unblockJobPage)}>
          <CsrfField />
          <FormError problems={own?.problems.some(({ field }) => field === "") ? own.problems : undefined} />
          {fields.map((field) => (
            <Answer key={field.key} field={field} jobId={job.id} refused={own} />
          ))}
          <p class="actions">
            <button type="submit">
              {submit}
              <span class="hidden"> {titleOf(job)}</span>
            </button>
          </p>
        </form>
      )}
    </section>
  );
}

interface AnswerProps {
  field: ManualField;
  jobId: string;
  refused: RefusedUnblocking | undefined;
}

function Answer({ field, jobId, refused }: AnswerProps) {
  const { key, required = true, hint } = field;
  const given = refused?.answers[key] ?? field.default ?? "";
  const values = [given].flat();
  const title = "text" in field ? field.text : field.select;
  const shared = {
    name: answerField(jobId, key),
    label: required ? title || key : `${title || key} (optional)`,
    ...(hint !== undefined && { hint }),
    problems: refused?.problems,
  };
  if ("select" in field && takesSeveral(field)) return <Choices field={field} values={values} {...shared} />;
  const [value = ""] = values;
  if ("select" in field) {
    const options = field.options.map((option) => [option.value, option.label] as const);
    const isChosen = field.options.some((option) => option.value === value);
    const none = ["", required ? "Choose one" : "None"] as const;
    return <Select {...shared} value={value} options={required && isChosen ? options : [none, ...options]} />;
  }
  if (field.format !== undefined) return <Field {...shared} value={value} required={required} />;
  return <TextArea {...shared} value={value} required={required} rows={2} />;
}

function Choices({
  field,
  values,
  name,
  label,
  hint,
  problems,
}: {
  field: SelectField;
  values: string[];
  name: string;
  label: string;
  hint?: string;
  problems: FormProblems | undefined;
}) {
  const chosen = new Set(values.flatMap((value) => value.split("\n")));
  return (
    <fieldset class="field">
      <legend>{label}</legend>
      {field.options.map((option) => (
        <Check
          key={option.value}
          label={option.label}
          name={name}
          value={option.value}
          checked={chosen.has(option.value)}
        />
      ))}
      <Notes name={name} hint={hint} problems={problems} />
    </fieldset>
  );
}
