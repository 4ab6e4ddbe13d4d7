import { newBudget } from "../conditions/budget.ts";
import { namesInBuildNotify, namesInStepNotify, namesInSteps } from "../conditions/names.ts";
import { findConditionWarning } from "../conditions/warnings.ts";
import type { StepWarning } from "../db/schema/builds.ts";
import type { PipelineDocument } from "../db/schema/pipelines.ts";
import { isCommandStep, isGroupStep, type Step } from "../vocabulary.ts";
import { reasonsOfOthers, storedBefore } from "./notify/given.ts";
import type { NoticeLevel } from "./notify/kinds.ts";
import { noticesOfAll } from "./notify/notices.ts";
import { namesOfOthers } from "./step/checkout.ts";

/** Of a build, or of the answer to an upload. */
export const maxWarnings = 100;

/** Left out on purpose: nothing that a build does depends on them. */
const harmless = new Set(["cache", "if_changed"]);

/** A member without effect, of a step or of a document. */
export type Ineffective = Pick<StepWarning, "member" | "reason">;

/** The members of a stored document that have no effect. */
export function ineffectiveOf(document: PipelineDocument | null): Ineffective[] {
  return (document?.ineffective ?? []).map((each) =>
    typeof each !== "string"
      ? each
      : each === "notify"
        ? { member: each, reason: storedBefore }
        : { member: each },
  );
}

/** Lists the members of steps and of their document that have no effect here. */
export function warningsOf(steps: Step[], ofDocument: Ineffective[] = []): StepWarning[] {
  return [...warningsAt(null, ofDocument), ...warningsOfList(steps, "steps")];
}

/** Lists the members of a document that have no effect: `image`, `checkout.ssh_secret`. */
export function ineffectiveMembers(others: Record<string, unknown> = {}): Ineffective[] {
  return membersWithoutEffect(others, "build");
}

function membersWithoutEffect(others: Record<string, unknown>, level: NoticeLevel): Ineffective[] {
  return Object.entries(others).flatMap(([name, value]): Ineffective[] => {
    if (name === "checkout") return namesOfOthers(value).map((member) => ({ member }));
    if (name !== "notify") return [{ member: name }];
    return reasonsOfOthers(value, level).map((reason) => ({ member: name, reason }));
  });
}

/** The warnings of a list, first to last, with how many others there are. An author needs no more to see what is wrong. */
export function firstWarnings(all: StepWarning[]): StepWarning[] {
  const kept = all
    .slice(0, maxWarnings)
    .map(({ step, member, reason }) => ({ step, member, ...(reason !== undefined && { reason }) }));
  const more = all.slice(maxWarnings).length + all.reduce((sum, each) => sum + (each.more ?? 0), 0);
  const last = kept.pop();
  return last ? [...kept, more > 0 ? { ...last, more } : last] : [];
}

/** Counts the warnings that a list stands for. */
export function countWarnings(warnings: StepWarning[]): number {
  return warnings.reduce((sum, { more = 0 }) => sum + 1 + more, 0);
}

/** Warns of the first condition, of steps or notices, with a pattern that may not mean what its author thinks. */
export function findPipelineWarning(steps: Step[], document: PipelineDocument | null): string | undefined {
  const budget = newBudget();
  const texts = (all: { if?: string }[]) => all.flatMap(({ if: text }) => text ?? []);
  const given = [
    [texts(steps.flatMap((step) => (isGroupStep(step) ? [step, ...step.steps] : step))), namesInSteps],
    [texts(noticesOfAll(steps)), namesInStepNotify],
    [texts(document?.notify ?? []), namesInBuildNotify],
  ] as const;
  const found = given.flatMap(([all, names]) =>
    all.flatMap((text) => findConditionWarning(text, names, budget) ?? []),
  );
  return found[0];
}

function warningsOfList(steps: Step[], place: string): StepWarning[] {
  return steps.flatMap((step, index) => {
    const at = `${place}[${index}]`;
    const { others = {} } = step;
    const members =
      isCommandStep(step) || isGroupStep(step)
        ? membersWithoutEffect(others, "step")
        : Object.keys(others).map((member) => ({ member }));
    const own = warningsAt(step.label ?? step.key ?? at, members);
    return isGroupStep(step) ? [...own, ...warningsOfList(step.steps, `${at}.steps`)] : own;
  });
}

function warningsAt(step: string | null, members: Ineffective[]): StepWarning[] {
  return members.filter(({ member }) => !harmless.has(member)).map((each) => ({ step, ...each }));
}
