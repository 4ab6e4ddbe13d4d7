import { StateIcon } from "../states/state.tsx";
import { type ChecklistProps, listFirstSteps, type Step } from "./first-steps.ts";

/**
 * The way to the first build that passes. Steps that are done are folded: others, or the program, may have done them.
 * They have a tick, and no command.
 */
export function Checklist(props: ChecklistProps) {
  const steps = listFirstSteps(props);
  const done = steps.filter(({ isDone }) => isDone);
  const open = steps.filter(({ isDone }) => !isDone);
  if (open.length === 0) return null;
  const isAdmin = props.request.role === "admin";
  return (
    <section aria-labelledby="first-steps" data-blocks="first-steps">
      <h2 id="first-steps">First steps: {open.length} to do</h2>
      <p class="quiet">
        Each step leads to its page. Its command does the same, in the folder where Signalbox runs.
        {props.progress.steps.passedAt && " This list goes away one day after the first build that passed."}
      </p>
      <Rows name="checklist" steps={open} isAdmin={isAdmin} />
      {done.length > 0 && (
        <details id="done-steps" class="fold" data-blocks="done-steps">
          <summary>{done.length} done already</summary>
          <Rows name="done-checklist" steps={done} isAdmin={isAdmin} />
        </details>
      )}
    </section>
  );
}

/** @param name for the refresh of an open page */
function Rows({ name, steps, isAdmin }: { name: string; steps: Step[]; isAdmin: boolean }) {
  return (
    <ol class="rows checklist" data-blocks={name}>
      {steps.map((step) => (
        <Row key={step.name} step={step} isAdmin={isAdmin} />
      ))}
    </ol>
  );
}

function Row({ step, isAdmin }: { step: Step; isAdmin: boolean }) {
  const { isDone, text, path, isForAdmins = false, command, replace } = step;
  const isOpen = !isDone;
  const isOthers = isForAdmins && !isAdmin;
  return (
    <li data-part="">
      <StateIcon state={isDone ? "passed" : "waiting"} />
      <span class="name">
        <span class="hidden">{isDone ? "Done: " : "To do: "}</span>
        {path && !isOthers ? <a href={path}>{text}</a> : text}
      </span>
      {isOpen && (command || isOthers) && (
        <span class="how">
          {command && <code>{command}</code>} {replace && <span class="quiet">{replace}</span>}{" "}
          {isOthers && <span class="quiet">An admin of the organization does this.</span>}
        </span>
      )}
      {isOpen && command && (
        <span class="copy">
          <button type="button" class="plain" data-text={command} aria-label={`Copy ${command}`} hidden>
            Copy
          </button>
          <span class="quiet" role="status" />
        </span>
      )}
    </li>
  );
}
