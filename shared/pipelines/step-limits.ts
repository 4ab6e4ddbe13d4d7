import type { Problem } from "../refusal.ts";
import type { Config } from "../settings/config.ts";
import { isCommandStep, isGroupStep, type Step } from "../vocabulary.ts";
import { countCombinations } from "./matrix.ts";

// The limits that are settings. Schemas have fixed ones, which are larger.

/** The reasons why a pipeline cannot store these steps. */
export function storedStepLimits(
  config: Pick<Config, "jobsPerMatrix" | "stepsPerPipeline">,
  steps: Step[],
): Problem[] {
  const max = config.stepsPerPipeline;
  const count = steps.reduce(
    (total, step) => total + (isGroupStep(step) ? Math.max(1, step.steps.length) : 1),
    0,
  );
  return count > max
    ? [{ field: "steps", message: `Steps can be ${max} at most` }]
    : matrixLimits(config, steps);
}

/** The reasons why matrices of these steps are too large. If there are several steps, they say which one. */
export function matrixLimits(
  { jobsPerMatrix: max }: Pick<Config, "jobsPerMatrix">,
  steps: Step[],
): Problem[] {
  const message = `Step matrix can become ${max} jobs at most`;
  const problemsOf = (list: Step[], place: string): Problem[] =>
    list.flatMap((step, index) => {
      const at = `${place}[${index}]`;
      if (isGroupStep(step)) return problemsOf(step.steps, `${at}.steps`);
      if (!isCommandStep(step) || !step.matrix || countCombinations(step.matrix) <= max) return [];
      return [{ field: "steps", message: steps.length > 1 ? `${at}.matrix: ${message}` : message }];
    });
  return problemsOf(steps, "steps");
}
