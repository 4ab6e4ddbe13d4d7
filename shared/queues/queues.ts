import { recordAudit } from "../accounts/audit.ts";
import { newId } from "../ids.ts";
import { notFound, validationFailed } from "../refusal.ts";
import type { Services } from "../services.ts";
import {
  countQueues,
  findClusterById,
  findQueueByKey,
  insertQueue,
  lockCluster,
  type Queue,
  setDefaultQueue,
} from "./store.ts";

const longestKey = 100;

/** Reasons why this cannot be a queue's key. */
export function keyProblems(key: string): string[] {
  if (key === "") return ["Key can't be blank"];
  return [
    ...(key.length > longestKey ? [`Key is too long (maximum is ${longestKey} characters)`] : []),
    ...(/^[A-Za-z0-9_-]*$/.test(key)
      ? []
      : ["Key can only contain letters, numbers, hyphens and underscores"]),
  ];
}

/**
 * A new self-hosted queue, made by the operator.
 * @param input.isDefault make it the queue of steps that name none
 * @throws Refusal 404, 422
 */
export async function createQueue(
  services: Services,
  input: { clusterId: string; key: string; description?: string | undefined; isDefault: boolean },
): Promise<Queue> {
  const problems = keyProblems(input.key);
  if (problems.length > 0) throw validationFailed(...problems);

  const now = services.clock.now();
  const { queuesPerCluster } = services.config;
  return services.db.transaction(async (tx) => {
    const cluster = await findClusterById(tx, input.clusterId);
    if (!cluster) throw notFound("cluster");
    await lockCluster(tx, cluster);
    if (await findQueueByKey(tx, cluster.id, input.key)) throw validationFailed("Key has already been taken");
    if ((await countQueues(tx, cluster.id)) >= queuesPerCluster) {
      throw validationFailed(`Cluster has reached its limit of ${queuesPerCluster} queues`);
    }

    const queue: Queue = {
      id: newId(now),
      clusterId: cluster.id,
      key: input.key,
      description: input.description ?? null,
      retryAgentAffinity: "prefer-warmest",
      dispatchPausedAt: null,
      dispatchPausedById: null,
      dispatchPausedNote: null,
      createdAt: now,
      createdById: cluster.createdById,
    };
    await insertQueue(tx, queue);
    if (input.isDefault) await setDefaultQueue(tx, cluster.id, queue.id);
    await recordAudit(
      tx,
      {
        organizationId: cluster.organizationId,
        actorId: cluster.createdById,
        action: "created",
        subjectType: "queue",
        subjectId: queue.id,
        subject: queue.key,
      },
      now,
    );
    return queue;
  });
}
