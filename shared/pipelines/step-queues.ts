import type { Db, Tx } from "../db/database.ts";
import { listStepQueues } from "../queues/store.ts";
import { excerpt, type Problem } from "../refusal.ts";
import { type CommandStep, isCommandStep, type Step } from "../vocabulary.ts";

/** Returns the id of the queue that runs a step in the cluster. */
export type QueueOfStep = (clusterId: string, step: CommandStep) => string | undefined;

/** Finds the queues that the steps name or default to, in one statement. */
export async function resolveStepQueues(
  db: Db | Tx,
  pipelines: { clusterId: string; steps: Step[] }[],
): Promise<QueueOfStep> {
  const clusterIds = [...new Set(pipelines.map((pipeline) => pipeline.clusterId))];
  const keys = new Set(
    pipelines.flatMap((pipeline) =>
      pipeline.steps.filter(isCommandStep).flatMap((step) => step.agents?.queue ?? []),
    ),
  );
  const byKey = new Map<string, string>();
  const defaults = new Map<string, string>();
  for (const queue of await listStepQueues(db, { clusterIds, keys: [...keys] })) {
    byKey.set(`${queue.clusterId} ${queue.key}`, queue.id);
    if (queue.id === queue.defaultQueueId) defaults.set(queue.clusterId, queue.id);
  }

  return (clusterId, step) => {
    const key = step.agents?.queue;
    return key === undefined ? defaults.get(clusterId) : byKey.get(`${clusterId} ${key}`);
  };
}

/** The reasons why the steps cannot run in the cluster, each once, of the first step that has it. */
export function stepProblems(clusterId: string, steps: Step[], queueOf: QueueOfStep): Problem[] {
  const problems = steps.flatMap((step, index) => {
    if (!isCommandStep(step) || queueOf(clusterId, step) !== undefined) return [];
    const queue = step.agents?.queue;
    const message =
      queue === undefined
        ? "Steps must name a queue, because the cluster has no default queue"
        : `Steps name the queue ${excerpt(queue)}, which the cluster does not have`;
    return { field: `steps.${index}.agents`, message };
  });
  return [...Map.groupBy(problems, ({ message }) => message).values()].flatMap(([first]) => first ?? []);
}
