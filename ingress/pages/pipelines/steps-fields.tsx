import { patterns } from "../../../shared/paths.ts";
import { maxConfigurationBytes } from "../../../shared/pipelines/configuration/parse.ts";
import { maxStepNameLength } from "../../../shared/pipelines/step/common.ts";
import { maxLengthOf, queueKey } from "../../../shared/validation.ts";
import { checkoutGuide, stepsGuide } from "../address/guide.ts";
import { Check, codeField, Field, TextArea } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";
import { type StepRow, type StepsDraft, stepField } from "./steps.ts";

/** @param queues keys that the cluster has */
export function StepsFields({
  draft,
  queues,
  problems,
}: {
  draft: StepsDraft;
  queues: string[];
  problems: FormProblems | undefined;
}) {
  const { focused } = draft;
  const isRowFocused = draft.as === "rows" && draft.rows[focused ?? -1] !== undefined;
  const isFocused = focused !== undefined && !isRowFocused && !problems;
  const hasText = draft.as === "json" || draft.as === "yaml";
  return (
    <section id="steps" aria-labelledby="steps-heading">
      <h2 id="steps-heading" {...(isFocused && !hasText && { tabIndex: -1, autofocus: true })}>
        Steps
      </h2>
      {draft.as === "kept" && (
        <p>
          These steps are too large for this page, and stay as they are. Change them with the{" "}
          <a href={patterns.apiReference}>REST API</a>.
        </p>
      )}
      {draft.as !== "kept" && (
        <>
          <Notations present={draft.as} />
          <p class="quiet">
            In the repository, they are a file that changes with the code. The other three are written here;
            the form is the shortest way to a first build.
          </p>
          <p>
            {/* Beside the form: what is typed would be lost. */}
            <a href={stepsGuide} target="_blank" rel="noopener">
              How to write steps
            </a>
            ,{" "}
            <a href={checkoutGuide} target="_blank" rel="noopener">
              skip the checkout
            </a>
          </p>
        </>
      )}
      {draft.as === "repository" && (
        <>
          <input type="hidden" name="repository_steps" value="1" />
          <p>
            The repository needs a file <code>.buildkite/pipeline.yml</code>, or <code>buildkite.yml</code>,
            such as:
          </p>
          <pre class="payload">{exampleFile}</pre>
          <p>
            The first step of each build checks out the commit, and uploads the steps of this file.{" "}
            <strong>Without the file that step fails, and the build with it</strong>: commit it first, or
            write the steps here.
          </p>
        </>
      )}
      {draft.as === "json" && (
        <TextArea
          label="Steps as JSON"
          name="steps"
          value={draft.json}
          rows={rowsFor(draft.json)}
          autofocus={isFocused}
          problems={problems}
          placeholder={'[{"label": "Tests", "command": "make test"}]'}
          hint={
            <>
              A list, as the <a href={patterns.apiReference}>REST API</a> takes it.
            </>
          }
          {...documentField}
        />
      )}
      {draft.as === "yaml" && (
        <TextArea
          label="YAML"
          name="configuration"
          value={draft.yaml}
          rows={rowsFor(draft.yaml)}
          autofocus={isFocused}
          maxLength={maxConfigurationBytes}
          problems={problems}
          placeholder={exampleFile}
          hint="The whole document, with steps. It is kept as you write it; a form and JSON have no comments."
          {...documentField}
        />
      )}
      {draft.as === "rows" && (
        <>
          <input type="hidden" name="rows" value={draft.rows.length} />
          <datalist id="queues">
            {queues.map((key) => (
              <option key={key} value={key} />
            ))}
          </datalist>
          {draft.rows.map((row, index) => (
            <Row
              key={`${index}`}
              row={row}
              index={index}
              problems={problems}
              isLast={index === draft.rows.length - 1}
              isFocused={focused === index}
            />
          ))}
          <p class="actions">
            <Act value="add">Add a step</Act>
            <Act value="add wait">Add a wait</Act>
          </p>
        </>
      )}
    </section>
  );
}

const exampleFile = "steps:\n  - label: Tests\n    command: make test";
const documentField = { ...codeField, class: "code document" } as const;
const fewestRows = 6;
/** The style sheet has the same bounds where the browser fits the field to its content. */
const mostRows = 24;

/** As many as there are lines. */
function rowsFor(text: string): number {
  return Math.min(mostRows, Math.max(fewestRows, text.split("\n").length));
}

const notations = { repository: "In the repository", rows: "Form", yaml: "YAML", json: "JSON" };

/** Buttons that show the steps in another notation, side by side. */
function Notations({ present }: { present: keyof typeof notations }) {
  return (
    <p class="notations">
      {Object.entries(notations).map(([value, text]) => (
        <button
          key={value}
          type="submit"
          name="do"
          value={value}
          class="secondary"
          aria-pressed={value === present}
          formNoValidate
        >
          {text}
        </button>
      ))}
    </p>
  );
}

/** Sends the form without saving it. */
function Act({ value, label, children }: { value: string; label?: string; children: string }) {
  return (
    <button type="submit" name="do" value={value} class="secondary" aria-label={label} formNoValidate>
      {children}
    </button>
  );
}

function Row({
  row,
  index,
  isLast,
  isFocused,
  problems,
}: {
  row: StepRow;
  index: number;
  isLast: boolean;
  isFocused: boolean;
  problems: FormProblems | undefined;
}) {
  const number = index + 1;
  const field = (name: Exclude<keyof StepRow, "skipsCheckout">) => ({
    name: stepField(index, name),
    value: row[name],
    problems,
  });
  const focus = isFocused && !problems ? { autofocus: true } : {};
  const more = field("more");
  const isMoreOpen = row.more !== "" || problems?.some((problem) => problem.field === more.name);
  return (
    <fieldset class="step">
      <legend>{row.kind === "wait" ? `Step ${number}: wait for the steps before` : `Step ${number}`}</legend>
      <input type="hidden" name={stepField(index, "kind")} value={row.kind} />
      {row.kind === "command" && (
        <>
          <TextArea
            label="Command"
            rows={2}
            placeholder="make test"
            {...field("command")}
            {...codeField}
            {...focus}
          />
          <Field label="Label" maxLength={maxStepNameLength} {...field("label")} />
          <Field
            label="Queue"
            list="queues"
            maxLength={maxLengthOf(queueKey)}
            placeholder="the cluster's default queue"
            {...field("queue")}
          />
          <TextArea
            label="Variables"
            rows={1}
            placeholder="NAME=value, one per line"
            {...field("environment")}
            {...codeField}
          />
          <Check
            label="Do not clone the repository"
            name={stepField(index, "skipsCheckout")}
            checked={row.skipsCheckout}
          />
        </>
      )}
      <details open={isMoreOpen}>
        <summary>Other settings, as YAML</summary>
        <TextArea
          label="YAML or JSON"
          placeholder={`As in ${row.kind === "wait" ? "continue_on_failure: true" : "timeout_in_minutes: 10"}`}
          {...more}
          {...codeField}
        />
      </details>
      <p class="actions">
        {index > 0 && (
          <Act value={`up ${index}`} label={`Move step ${number} up`}>
            Up
          </Act>
        )}
        {!isLast && (
          <Act value={`down ${index}`} label={`Move step ${number} down`}>
            Down
          </Act>
        )}
        <Act value={`remove ${index}`} label={`Remove step ${number}`}>
          Remove
        </Act>
      </p>
    </fieldset>
  );
}
