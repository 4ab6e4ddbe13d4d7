import { type Actor, audit } from "../accounts/audit.ts";
import { type Cluster, lockCluster, takeQueueSlotIfFree, updateCluster } from "../clusters/store.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { notFound, Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import type { RetryAgentAffinity } from "../vocabulary.ts";
import { checkHostedChange, type HostedChange } from "./hosted.ts";
import { type ShapeName, shapeProblems } from "./shapes.ts";
import {
  deleteQueueIfPresent,
  findQueue,
  findQueueByKey,
  insertQueue,
  type Queue,
  updateQueueIfPresent,
} from "./store.ts";

const affinities: readonly unknown[] = ["prefer-warmest", "prefer-different"] satisfies RetryAgentAffinity[];
export const badAffinity = "Retry agent affinity must be prefer-warmest or prefer-different";

export function isAffinity(value: unknown): value is RetryAgentAffinity {
  return affinities.includes(value);
}

export interface NewQueue {
  key: string;
  description?: string | null | undefined;
  /** Default: prefer-warmest. */
  retryAgentAffinity?: RetryAgentAffinity | undefined;
  /** Absent: agents are the organization's own. */
  instanceShape?: ShapeName | undefined;
  /** Make it the queue of steps that name none. */
  isDefault?: boolean;
}

/**
 * A new queue, self-hosted or hosted.
 * @throws Refusal 404, 422
 */
export async function createQueue(
  services: Services,
  actor: Actor,
  cluster: Cluster,
  input: NewQueue,
): Promise<Queue> {
  const { db, clock, config, events } = services;
  const problems = input.instanceShape ? shapeProblems(input.instanceShape, actor.organization) : [];
  if (problems.length > 0) throw validationFailed(...problems);

  const now = clock.now();
  const created = await db.transaction(async (tx) => {
    if (!(await lockCluster(tx, cluster.id))) throw notFound("cluster");
    if (await findQueueByKey(tx, cluster.id, input.key)) throw validationFailed("Key has already been taken");
    if (!(await takeQueueSlotIfFree(tx, cluster.id, config.queuesPerCluster)))
      throw validationFailed(`Cluster has reached its limit of ${config.queuesPerCluster} queues`);

    const queue: Queue = {
      id: newId(now),
      clusterId: cluster.id,
      key: input.key,
      description: input.description || null,
      retryAgentAffinity: input.retryAgentAffinity ?? "prefer-warmest",
      dispatchPausedAt: null,
      dispatchPausedById: null,
      dispatchPausedNote: null,
      instanceShape: input.instanceShape ?? null,
      agentImageRef: null,
      createdAt: now,
      createdById: actor.userId,
      deletedAt: null,
    };
    await insertQueue(tx, queue);
    if (input.isDefault) await updateCluster(tx, cluster.id, { defaultQueueId: queue.id });
    await recordOfQueue(tx, actor, queue, "created", now);
    return queue;
  });
  events.publish([`cluster:${cluster.id}`]);
  return created;
}

export interface QueueChange {
  /** Absent: unchanged; null or empty: none. */
  description?: string | null | undefined;
  /** As it came: of a hosted queue it is ignored, whatever it is. */
  retryAgentAffinity?: unknown;
  hosted?: HostedChange | undefined;
}

/**
 * Change a queue (spec §4.3.3). Its key, and what kind of queue it is, stay.
 * @throws Refusal 404, 422
 */
export async function updateQueue(
  services: Services,
  actor: Actor,
  of: Queue,
  change: QueueChange,
): Promise<Queue> {
  const now = services.clock.now();
  const changed = await services.db.transaction(async (tx) => {
    if (!(await lockCluster(tx, of.clusterId))) throw notFound("cluster queue");
    const queue = await findQueue(tx, of.clusterId, of.id);
    if (!queue) throw notFound("cluster queue");
    const { description } = change;
    const updated = await updateQueueIfPresent(tx, queue.id, {
      ...(queue.instanceShape === null ? checkAffinity(change.retryAgentAffinity) : {}),
      ...(change.hosted ? checkHostedChange(queue, actor.organization, change.hosted) : {}),
      ...(description === undefined ? {} : { description: description || null }),
    });
    if (!updated) throw notFound("cluster queue");
    await recordOfQueue(tx, actor, updated, "updated", now);
    return updated;
  });
  services.events.publish([`queue:${of.id}`]);
  return changed;
}

/** @throws Refusal 422 */
function checkAffinity(given: unknown): Partial<Pick<Queue, "retryAgentAffinity">> {
  if (given === undefined) return {};
  if (!isAffinity(given)) throw validationFailed(badAffinity);
  return { retryAgentAffinity: given };
}

/**
 * Delete a queue that nothing needs any more.
 * @param dependents how many pipelines name it, and how many of its jobs are unfinished: other capabilities know
 * @throws Refusal 404, 422 with the reason, worded alike whatever the number, so that callers can compare it
 */
export async function deleteQueue(
  services: Services,
  actor: Actor,
  of: Queue,
  dependents: (tx: Tx, queue: Queue) => Promise<{ pipelines: number; unfinishedJobs: number }>,
): Promise<void> {
  const now = services.clock.now();
  await services.db.transaction(async (tx) => {
    const cluster = await lockCluster(tx, of.clusterId);
    const queue = cluster && (await findQueue(tx, cluster.id, of.id));
    if (!queue) throw notFound("cluster queue");
    if (cluster.defaultQueueId === queue.id)
      throw new Refusal(422, "Cluster queue is the default queue of its cluster");
    const { pipelines, unfinishedJobs } = await dependents(tx, queue);
    if (pipelines > 0) throw new Refusal(422, `Cluster queue is the target of ${pipelines} pipelines`);
    if (unfinishedJobs > 0) throw new Refusal(422, `Cluster queue has ${unfinishedJobs} unfinished jobs`);

    await deleteQueueIfPresent(tx, queue, now);
    await recordOfQueue(tx, actor, queue, "deleted", now);
  });
  services.events.publish([`cluster:${of.clusterId}`, `queue:${of.id}`]);
}

/** @throws Refusal 404 */
export async function requireQueue(db: Db, cluster: Cluster, id: string): Promise<Queue> {
  const queue = isId(id) ? await findQueue(db, cluster.id, id) : undefined;
  if (!queue) throw notFound("cluster queue");
  return queue;
}

export function recordOfQueue(
  tx: Tx,
  actor: Actor,
  { id, key }: Queue,
  action: string,
  now: Date,
): Promise<void> {
  return audit(tx, actor, action, { type: "queue", id, name: key });
}
