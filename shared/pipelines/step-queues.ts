import type { Db, Tx } from "../db/database.ts";
import { listStepQueues } from "../queues/store.ts";
import { excerpt, type Problem } from "../refusal.ts";
import { type CommandStep, commandsOf, isCommandStep, isGroupStep, type Step } from "../vocabulary.ts";
import { agentsOfJobs } from "./step/agents.ts";

/** Returns the id of the queue that runs a step in the cluster. Of several that a matrix names, the first. */
export type QueueOfStep = (clusterId: string, step: CommandStep) => string | undefined;

/** Finds the queues that the steps name or default to, in one statement. */
export async function resolveStepQueues(
  db: Db | Tx,
  pipelines: { clusterId: string; steps: Step[] }[],
): Promise<QueueOfStep> {
  const clusterIds = [...new Set(pipelines.map((pipeline) => pipeline.clusterId))];
  const keys = new Set(
    pipelines
      .flatMap(({ steps }) => commandsOf(steps).flatMap(queueKeysOf))
      .filter((key) => key !== undefined),
  );
  const byKey = new Map<string, string>();
  const defaults = new Map<string, string>();
  for (const queue of await listStepQueues(db, { clusterIds, keys: [...keys] })) {
    byKey.set(`${queue.clusterId} ${queue.key}`, queue.id);
    if (queue.id === queue.defaultQueueId) defaults.set(queue.clusterId, queue.id);
  }

  return (clusterId, step) => {
    const ids = queueKeysOf(step).map((key) =>
      key === undefined ? defaults.get(clusterId) : byKey.get(`${clusterId} ${key}`),
    );
    return ids.every((id) => id !== undefined) ? ids[0] : undefined;
  };
}

/** The queues of the jobs that a step becomes, each once. Undefined: the default of the cluster. */
function queueKeysOf(step: CommandStep): (string | undefined)[] {
  return [...new Set(agentsOfJobs(step).map(({ queue }) => queue))];
}

/** The reasons why the steps cannot run in the cluster, each once, of the first step that has it. */
export function stepProblems(clusterId: string, steps: Step[], queueOf: QueueOfStep): Problem[] {
  const problems = problemsOfList(clusterId, steps, queueOf, "steps");
  return [...Map.groupBy(problems, ({ message }) => message).values()].flatMap(([first]) => first ?? []);
}

function problemsOfList(clusterId: string, steps: Step[], queueOf: QueueOfStep, place: string): Problem[] {
  return steps.flatMap((step, index) => {
    const at = `${place}.${index}`;
    if (isGroupStep(step)) return problemsOfList(clusterId, step.steps, queueOf, `${at}.steps`);
    if (!isCommandStep(step) || queueOf(clusterId, step) !== undefined) return [];
    const alone = (queue: string | undefined): CommandStep => ({
      command: "",
      agents: queue === undefined ? {} : { queue },
    });
    const missing = queueKeysOf(step).find((queue) => queueOf(clusterId, alone(queue)) === undefined);
    const message =
      missing === undefined
        ? "Steps must name a queue, because the cluster has no default queue"
        : `Steps name the queue ${excerpt(missing)}, which the cluster does not have`;
    return [{ field: `${at}.agents`, message }];
  });
}
