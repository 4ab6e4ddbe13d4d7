import { patterns } from "../../../shared/paths.ts";
import { maxConfigurationBytes } from "../../../shared/pipelines/configuration/parse.ts";
import { maxStepNameLength } from "../../../shared/pipelines/step/common.ts";
import { maxLengthOf, queueKey } from "../../../shared/validation.ts";
import { codeField, Field, TextArea } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";
import { type StepRow, type StepsDraft, stepField, uploadRow } from "./steps.ts";

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
  return (
    <section id="steps" aria-labelledby="steps-heading">
      <h2 id="steps-heading">Steps</h2>
      {draft.as === "kept" && (
        <p>
          These steps are too large for this page, and stay as they are. Change them with the{" "}
          <a href={patterns.docs}>REST API</a>.
        </p>
      )}
      {draft.as === "json" && (
        <>
          <TextArea
            label="Steps as JSON"
            name="steps"
            value={draft.json}
            rows={16}
            problems={problems}
            hint={
              <>
                A list, as the <a href={patterns.docs}>REST API</a> takes it.
              </>
            }
            {...codeField}
          />
          <p class="actions">
            <Act value="rows">Edit as a form</Act>
            <Act value="yaml">Edit as YAML</Act>
          </p>
        </>
      )}
      {draft.as === "yaml" && (
        <>
          <TextArea
            label="YAML"
            name="configuration"
            value={draft.yaml}
            rows={24}
            maxLength={maxConfigurationBytes}
            problems={problems}
            hint="The whole document, with steps. It is kept as you write it."
            {...codeField}
          />
          <p class="actions">
            <Act value="json">Edit as JSON</Act>
          </p>
        </>
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
              isFocused={draft.focused === index}
            />
          ))}
          <p class="actions">
            <Act value="add">Add a step</Act>
            <Act value="add wait">Add a wait</Act>
            <Act value="json">Edit as JSON</Act>
            <Act value="yaml">Edit as YAML</Act>
          </p>
        </>
      )}
    </section>
  );
}

const uploadHint =
  "Runs the steps of this file in the repository. Steps may stand here instead: write a command.";

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
  const field = (name: keyof StepRow) => ({ name: stepField(index, name), value: row[name], problems });
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
            {...(row.command === uploadRow.command && { hint: uploadHint })}
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
        </>
      )}
      <details open={isMoreOpen}>
        <summary>More members</summary>
        <TextArea
          label="A JSON object"
          placeholder={row.kind === "wait" ? '{"continue_on_failure": true}' : '{"timeout_in_minutes": 30}'}
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
