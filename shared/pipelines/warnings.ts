import type { StepWarning } from "../db/schema/builds.ts";
import { isGroupStep, type Step } from "../vocabulary.ts";

/** Left out on purpose: nothing that a build does depends on them. */
const harmless = new Set(["cache", "if_changed"]);

/**
 * Lists the members of steps and of their document that have no effect here.
 * @param others those of the document
 */
export function warningsOf(steps: Step[], others: Record<string, unknown> = {}): StepWarning[] {
  return [...warningsAt(null, others), ...warningsOfList(steps, "steps")];
}

function warningsOfList(steps: Step[], place: string): StepWarning[] {
  return steps.flatMap((step, index) => {
    const at = `${place}[${index}]`;
    const own = warningsAt(step.label ?? step.key ?? at, step.others);
    return isGroupStep(step) ? [...own, ...warningsOfList(step.steps, `${at}.steps`)] : own;
  });
}

function warningsAt(step: string | null, others: Record<string, unknown> = {}): StepWarning[] {
  const members = Object.keys(others).filter((member) => !harmless.has(member));
  return members.map((member) => ({ step, member }));
}
