import { isCommandStep, isGroupStep, type Notice, type Step } from "../../vocabulary.ts";

/** Returns true if a step has notices, or one of its group. */
export function haveNotices(steps: Step[]): boolean {
  return steps.some((step) => noticesOf(step).length > 0 || (isGroupStep(step) && haveNotices(step.steps)));
}

/** The notices of a step, without those of its group. */
export function noticesOf(step: Step): Notice[] {
  return ((isCommandStep(step) || isGroupStep(step)) && step.notify) || [];
}

/** The notices of steps and groups. */
export function noticesOfAll(steps: Step[]): Notice[] {
  return steps.flatMap((step) => [
    ...noticesOf(step),
    ...(isGroupStep(step) ? noticesOfAll(step.steps) : []),
  ]);
}

/** Steps without their notices. */
export function withoutNotices<Any extends Step>(steps: Any[]): Any[] {
  return steps.map((step) => ({
    ...step,
    ...(noticesOf(step).length > 0 && { notify: undefined }),
    ...(isGroupStep(step) && { steps: withoutNotices(step.steps) }),
  }));
}
