import { type Actor, audit } from "../accounts/audit.ts";
import { changesOf } from "../accounts/audit-changes.ts";
import { transactWithDependents } from "../clusters/dependents.ts";
import { type Cluster, lockCluster, updateCluster } from "../clusters/store.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { auditedColumns, changedColumns, newColumns } from "../members/rows.ts";
import { notFound, type Problem, Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import { checkHostedChange, type HostedChange } from "./hosted.ts";
import { badAffinity, isAffinity, type NewQueue, type QueueChange, queueMembers } from "./members.ts";
import { shapeProblems } from "./shapes.ts";
import {
  countQueues,
  countUnfinishedJobs,
  deleteQueueIfPresent,
  findQueue,
  findQueueByKey,
  insertQueue,
  type Queue,
  updateQueueIfPresent,
} from "./store.ts";

/**
 * Creates a queue, self-hosted or hosted.
 * @throws Refusal 404, 422
 */
export async function createQueue(
  services: Services,
  actor: Actor,
  cluster: Cluster,
  input: NewQueue,
): Promise<Queue> {
  const { db, clock, config, events } = services;
  const now = clock.now();
  const created = await db.transaction(async (tx) => {
    if (!(await lockCluster(tx, cluster.id))) throw notFound("cluster");
    const problems = [
      ...(await newQueueProblems(tx, actor, cluster, input)),
      ...(await roomProblems(config, stored.queues, (limit) => countQueues(tx, cluster.id, limit))),
    ];
    if (problems.length > 0) throw validationFailed(...problems);

    const queue = newQueue(input, cluster, { now, userId: actor.userId });
    await insertQueue(tx, queue);
    if (input.isDefault) await updateCluster(tx, cluster.id, { defaultQueueId: queue.id });
    await audit(tx, actor, "created", auditSubject(queue));
    return queue;
  });
  events.publish([`cluster:${cluster.id}`]);
  return created;
}

/** The reasons why the cluster or the organization does not allow the members of a new queue. */
export async function newQueueProblems(
  db: Db | Tx,
  { organization }: Actor,
  cluster: Cluster,
  { key, instanceShape }: Partial<Pick<NewQueue, "key" | "instanceShape">>,
): Promise<Problem[]> {
  const isTaken = key !== undefined && (await findQueueByKey(db, cluster.id, key)) !== undefined;
  return [
    ...(isTaken ? [{ field: "key", message: "Key has already been taken" }] : []),
    ...(instanceShape ? shapeProblems(instanceShape, organization) : []),
  ];
}

function newQueue(input: NewQueue, cluster: Cluster, { now, userId }: { now: Date; userId: string }): Queue {
  return {
    ...newColumns<Queue, keyof typeof queueMembers>(queueMembers, input),
    id: newId(now),
    clusterId: cluster.id,
    dispatchPausedAt: null,
    dispatchPausedById: null,
    dispatchPausedNote: null,
    createdAt: now,
    createdById: userId,
    deletedAt: null,
  };
}

/**
 * Changes a queue. A self-hosted queue cannot become hosted, nor the reverse.
 * @throws Refusal 404, 422
 */
export async function updateQueue(
  services: Services,
  actor: Actor,
  { clusterId, id }: Queue,
  { retryAgentAffinity, hosted, ...change }: QueueChange,
): Promise<Queue> {
  const changed = await services.db.transaction(async (tx) => {
    if (!(await lockCluster(tx, clusterId))) throw notFound("cluster queue");
    const queue = await findQueue(tx, clusterId, id);
    if (!queue) throw notFound("cluster queue");
    const problems = queueChangeProblems(actor, queue, { retryAgentAffinity, hosted });
    if (problems.length > 0) throw validationFailed(...problems);
    const updated = await updateQueueIfPresent(tx, id, {
      ...(queue.instanceShape === null && isAffinity(retryAgentAffinity) ? { retryAgentAffinity } : {}),
      ...(hosted ? hostedColumns(actor, queue, hosted) : {}),
      ...changedColumns<Queue>(change),
    });
    if (!updated) throw notFound("cluster queue");
    const changes = changesOf({ before: queue, after: updated, ...auditedColumns<Queue>(queueMembers) });
    await audit(tx, actor, "updated", auditSubject(updated), changes);
    return updated;
  });
  services.events.publish([`queue:${id}`]);
  return changed;
}

/** The reasons why a queue does not allow a change. */
export function queueChangeProblems(
  { organization }: Actor,
  queue: Queue,
  { retryAgentAffinity, hosted }: Pick<QueueChange, "retryAgentAffinity" | "hosted">,
): Problem[] {
  const ignoresAffinity = retryAgentAffinity === undefined || queue.instanceShape !== null;
  const checked = hosted && checkHostedChange(queue, organization, hosted);
  return [
    ...(ignoresAffinity || isAffinity(retryAgentAffinity) ? [] : [badAffinity]),
    ...(checked && "problem" in checked ? [checked.problem] : []),
  ];
}

function hostedColumns({ organization }: Actor, queue: Queue, hosted: HostedChange) {
  const checked = checkHostedChange(queue, organization, hosted);
  return "columns" in checked ? checked.columns : {};
}

/**
 * Deletes a queue. The sentences have no singular, so that callers can compare them.
 * @throws Refusal 404, 422
 */
export async function deleteQueue(
  services: Services,
  actor: Actor,
  { clusterId, id, key }: Queue,
): Promise<void> {
  const now = services.clock.now();
  const { db, events } = services;
  const dependents = { clusterId, queueKey: key };
  await transactWithDependents(db, dependents, async (tx, cluster, pipelines) => {
    const queue = await findQueue(tx, clusterId, id);
    if (!queue) throw notFound("cluster queue");
    if (cluster.defaultQueueId === id)
      throw new Refusal(422, "Cluster queue is the default queue of its cluster");
    if (pipelines > 0) throw new Refusal(422, `Cluster queue is the target of ${pipelines} pipelines`);
    const unfinishedJobs = await countUnfinishedJobs(tx, id);
    if (unfinishedJobs > 0) throw new Refusal(422, `Cluster queue has ${unfinishedJobs} unfinished jobs`);

    await deleteQueueIfPresent(tx, queue, now);
    await audit(tx, actor, "deleted", auditSubject(queue));
  });
  events.publish([`cluster:${clusterId}`, `queue:${id}`]);
}

/** @throws Refusal 404 */
export async function requireQueue(db: Db, cluster: Cluster, id: string): Promise<Queue> {
  const queue = isId(id) ? await findQueue(db, cluster.id, id) : undefined;
  if (!queue) throw notFound("cluster queue");
  return queue;
}

export function auditSubject({ id, key }: Queue) {
  return { type: "queue", id, name: key } as const;
}
