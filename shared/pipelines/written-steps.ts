import { isMap } from "../collections.ts";
import { isCommandStep, isGroupStep, type PlainStep, type Step } from "../vocabulary.ts";
import { mergeCheckouts } from "./step/checkout.ts";
import { onePluginEach } from "./step/plugins.ts";

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
  // Steps that were stored before have text in the list.
  const plugins = isCommandStep(step) && step.plugins && { plugins: onePluginEach(step.plugins) };
  return { ...withOthers(step), ...plugins, ...(isBare && { type: "command" }) };
}

function withOthers({ others, ...members }: Step): WrittenStep {
  const written: WrittenStep = { ...others, ...members };
  // Of its members, some may be read and some not.
  if (isMap(others?.checkout) && isMap(written.checkout))
    written.checkout = mergeCheckouts(others.checkout, written.checkout);
  if (Array.isArray(others?.notify) && "notify" in members && members.notify)
    written.notify = [...members.notify, ...others.notify];
  return written;
}
