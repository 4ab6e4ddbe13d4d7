import { isCommandStep, isGroupStep, type PlainStep, type Step } from "../vocabulary.ts";

/** A step as callers can send it again: members that nothing reads stand beside the others. */
export type WrittenStep = Record<string, unknown>;

export function writeSteps(steps: Step[]): WrittenStep[] {
  return steps.map((step) =>
    isGroupStep(step) ? { ...withOthers(step), steps: step.steps.map(writeStep) } : writeStep(step),
  );
}

function writeStep(step: PlainStep): WrittenStep {
  // Only its type says that it is a command.
  const isBare = isCommandStep(step) && step.command === "" && !step.plugins;
  return { ...withOthers(step), ...(isBare && { type: "command" }) };
}

function withOthers({ others, ...members }: Step): WrittenStep {
  return { ...others, ...members };
}
