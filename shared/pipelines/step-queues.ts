import type { Db, Tx } from "../db/database.ts";
import { listStepQueues } from "../queues/store.ts";
import { excerpt } from "../refusal.ts";
import type { Step } from "../vocabulary.ts";

/** The queue that a step of a pipeline in this cluster runs on; undefined when there is none. */
export type QueueOfStep = (clusterId: string, step: Step) => string | undefined;

/** Look up, at once for all these pipelines, the queues that their steps name or default to. */
export async function resolveStepQueues(
  db: Db | Tx,
  pipelines: { clusterId: string; steps: Step[] }[],
): Promise<QueueOfStep> {
  const clusterIds = [...new Set(pipelines.map((pipeline) => pipeline.clusterId))];
  const keys = new Set(
    pipelines.flatMap((pipeline) => pipeline.steps.flatMap((step) => step.agents?.queue ?? [])),
  );
  const byKey = new Map<string, string>();
  const defaults = new Map<string, string>();
  for (const queue of await listStepQueues(db, clusterIds, [...keys])) {
    byKey.set(`${queue.clusterId} ${queue.key}`, queue.id);
    if (queue.id === queue.defaultQueueId) defaults.set(queue.clusterId, queue.id);
  }

  return (clusterId, step) => {
    const key = step.agents?.queue;
    return key === undefined ? defaults.get(clusterId) : byKey.get(`${clusterId} ${key}`);
  };
}

/** Reasons why these steps could not run in the cluster. */
export function stepProblems(clusterId: string, steps: Step[], queueOf: QueueOfStep): string[] {
  return steps.flatMap((step) => {
    if (queueOf(clusterId, step) !== undefined) return [];
    const key = step.agents?.queue;
    return key === undefined
      ? ["Steps must name a queue, because the cluster has no default queue"]
      : [`Steps name the queue ${excerpt(key)}, which the cluster does not have`];
  });
}
