import type { Services } from "../process/services.ts";
import { Refusal, retryAfter } from "../refusal.ts";
import { type CommandStep, isCommandStep, isGroupStep, type Step } from "../vocabulary.ts";

const sinceGraphs: (keyof CommandStep)[] = [
  ...(["if", "branches", "depends_on", "allow_dependency_failure"] as const),
  ...(["skip", "matrix", "priority"] as const),
];

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
  if (!mayUse && needsGraphs(steps))
    throw new Refusal(
      503,
      "These steps can be used once all processes of the older version have stopped. Please try again later.",
      { headers: retryAfter(60) },
    );
  return mayUse;
}
