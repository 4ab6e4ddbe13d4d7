import type { Services } from "../process/services.ts";
import { Refusal, retryAfter } from "../refusal.ts";
import {
  type CommandStep,
  commandsOf,
  isCommandStep,
  isGroupStep,
  isManualStep,
  isTriggerStep,
  type Step,
} from "../vocabulary.ts";

const sinceGraphs: (keyof CommandStep)[] = [
  ...(["if", "branches", "depends_on", "allow_dependency_failure"] as const),
  ...(["skip", "matrix", "priority"] as const),
];

const sinceAllSteps: (keyof CommandStep)[] = ["concurrency_group", "cancel_on_build_failing"];

function needsAllSteps(steps: Step[]): boolean {
  return steps.some((step) => {
    if (isGroupStep(step)) return needsAllSteps(step.steps);
    return isManualStep(step) || isTriggerStep(step) || sinceAllSteps.some((name) => name in step);
  });
}

/** A process of an older version would run these steps otherwise than their author means. */
function needsGraphs(steps: Step[]): boolean {
  return steps.some(
    (step) =>
      isGroupStep(step) ||
      sinceGraphs.some((name) => name in step) ||
      (isCommandStep(step) && Object.keys(step.agents ?? {}).some((tag) => tag !== "queue")),
  );
}

/**
 * Refuses steps that a process of an older version, which may still run, would not run as they mean.
 * @returns false if such a process runs: it does not know, either, that uploaded steps wait for their job
 * @throws Refusal 503
 */
export async function mayUseGraphs({ processes }: Services, steps: Step[]): Promise<boolean> {
  const mayUse = (await processes.doAll("readsGraphs")) !== false;
  const isRefused =
    (!mayUse && needsGraphs(steps)) ||
    (needsAllSteps(steps) && (await processes.doAll("readsAllSteps")) === false) ||
    (commandsOf(steps).some(({ secrets, checkout }) => secrets || checkout) &&
      (await processes.doAll("givesSecrets")) === false);
  if (isRefused)
    throw new Refusal(
      503,
      "These steps can be used once all processes of the older version have stopped. Please try again later.",
      { headers: retryAfter(60) },
    );
  return mayUse;
}
