import { wordsOfStep } from "../../../shared/pipelines/step/members.ts";
import { excerpt } from "../../../shared/refusal.ts";
import {
  type CommandStep,
  isCommandStep,
  isManualStep,
  isTriggerStep,
  type ManualStep,
  type Step,
  type TriggerStep,
  type WaitStep,
} from "../../../shared/vocabulary.ts";

/** Steps may have a megabyte. */
const maxSteps = 50;
const maxCommandLength = 2000;

/** The steps of a pipeline, for its page. */
export function Steps({ steps }: { steps: Step[] }) {
  return (
    <>
      <ol class="steps">
        {steps.slice(0, maxSteps).map((step, index) => (
          <li key={`${index}`}>
            <StepOf step={step} />
          </li>
        ))}
      </ol>
      {steps.length > maxSteps && <p class="quiet">and {steps.length - maxSteps} more steps</p>}
    </>
  );
}

function StepOf({ step }: { step: Step }) {
  if (isCommandStep(step)) return <CommandOf step={step} />;
  if (step.type === "wait") return <WaitOf step={step} />;
  if (isManualStep(step)) return <ManualOf step={step} />;
  if (isTriggerStep(step)) return <TriggerOf step={step} />;
  return (
    <>
      {step.label ?? step.key ?? "Group"}
      <Words step={step} />
      <Steps steps={step.steps} />
    </>
  );
}

/** About a step, but for its name and what it runs. */
function Words({ step }: { step: Step }) {
  return wordsOfStep(step).map((words) => (
    <span key={words} class="quiet">
      {" "}
      {words}
    </span>
  ));
}

function CommandOf({ step }: { step: CommandStep }) {
  const { label, command, agents } = step;
  return (
    <>
      {label && `${label} `}
      {command === "" ? "Plugins only" : <code>{excerpt(command, maxCommandLength)}</code>}
      <Words step={step} />
      {agents?.queue && <span class="quiet"> on the queue {agents.queue}</span>}
    </>
  );
}

function ManualOf({ step }: { step: ManualStep }) {
  return (
    <>
      {step.label ?? step.key ?? "Continue"}
      <span class="quiet"> waits until somebody unblocks it</span>
      <Words step={step} />
    </>
  );
}

function TriggerOf({ step }: { step: TriggerStep }) {
  return (
    <>
      {step.label && `${step.label} `}
      <span class="quiet">triggers</span> {step.trigger}
      <Words step={step} />
    </>
  );
}

function WaitOf({ step }: { step: WaitStep }) {
  return (
    <>
      <span class="quiet">
        Wait for the steps before{step.continue_on_failure && ", whether they pass or fail"}
      </span>
      <Words step={step} />
    </>
  );
}
