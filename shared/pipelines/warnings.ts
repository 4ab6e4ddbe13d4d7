import type { StepWarning } from "../db/schema/builds.ts";
import { isGroupStep, type Step } from "../vocabulary.ts";

/** Left out on purpose: nothing that a build does depends on them. */
const harmless = new Set(["cache", "if_changed"]);

/**
 * Lists the members of steps and of their document that have no effect here.
 * @param ofDocument names of members
 */
export function warningsOf(steps: Step[], ofDocument: string[] = []): StepWarning[] {
  return [...warningsAt(null, ofDocument), ...warningsOfList(steps, "steps")];
}

function warningsOfList(steps: Step[], place: string): StepWarning[] {
  return steps.flatMap((step, index) => {
    const at = `${place}[${index}]`;
    const own = warningsAt(step.label ?? step.key ?? at, Object.keys(step.others ?? {}));
    return isGroupStep(step) ? [...own, ...warningsOfList(step.steps, `${at}.steps`)] : own;
  });
}

function warningsAt(step: string | null, members: string[]): StepWarning[] {
  return members.filter((member) => !harmless.has(member)).map((member) => ({ step, member }));
}
