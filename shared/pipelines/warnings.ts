import type { StepWarning } from "../db/schema/builds.ts";
import { isCommandStep, isGroupStep, type Step } from "../vocabulary.ts";
import { namesOfOthers } from "./step/checkout.ts";

/** Of a build, or of the answer to an upload. */
export const maxWarnings = 100;

/** Left out on purpose: nothing that a build does depends on them. */
const harmless = new Set(["cache", "if_changed"]);

/**
 * Lists the members of steps and of their document that have no effect here.
 * @param ofDocument names of members
 */
export function warningsOf(steps: Step[], ofDocument: string[] = []): StepWarning[] {
  return [...warningsAt(null, ofDocument), ...warningsOfList(steps, "steps")];
}

/** Names the members that have no effect: `notify`, `checkout.ssh_secret`. */
export function ineffectiveMembers(others: Record<string, unknown> = {}): string[] {
  return Object.entries(others).flatMap(([name, value]) =>
    name === "checkout" ? namesOfOthers(value) : [name],
  );
}

/** The warnings of a list, first to last, with how many others there are. An author needs no more to see what is wrong. */
export function firstWarnings(all: StepWarning[]): StepWarning[] {
  const kept = all.slice(0, maxWarnings).map(({ step, member }) => ({ step, member }));
  const more = all.slice(maxWarnings).length + all.reduce((sum, each) => sum + (each.more ?? 0), 0);
  const last = kept.pop();
  return last ? [...kept, more > 0 ? { ...last, more } : last] : [];
}

/** Counts the warnings that a list stands for. */
export function countWarnings(warnings: StepWarning[]): number {
  return warnings.reduce((sum, { more = 0 }) => sum + 1 + more, 0);
}

function warningsOfList(steps: Step[], place: string): StepWarning[] {
  return steps.flatMap((step, index) => {
    const at = `${place}[${index}]`;
    const members = isCommandStep(step) ? ineffectiveMembers(step.others) : Object.keys(step.others ?? {});
    const own = warningsAt(step.label ?? step.key ?? at, members);
    return isGroupStep(step) ? [...own, ...warningsOfList(step.steps, `${at}.steps`)] : own;
  });
}

function warningsAt(step: string | null, members: string[]): StepWarning[] {
  return members.filter((member) => !harmless.has(member)).map((member) => ({ step, member }));
}
