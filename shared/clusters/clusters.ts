import { type Actor, audit } from "../accounts/audit.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { findQueue } from "../queues/store.ts";
import { notFound, Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import {
  type Cluster,
  deleteCluster as deleteClusterRow,
  findCluster,
  findClusterByName,
  insertCluster,
  lockCluster,
  updateCluster as updateClusterRow,
} from "./store.ts";

export interface NewCluster {
  /** White space around it is not kept. */
  name: string;
  description?: string | null | undefined;
  emoji?: string | null | undefined;
  color?: string | null | undefined;
}

/**
 * A new cluster, without a default queue.
 * @throws Refusal 422
 */
export async function createCluster(services: Services, actor: Actor, input: NewCluster): Promise<Cluster> {
  const now = services.clock.now();
  const organizationId = actor.organization.id;
  const name = input.name.trim();
  return services.db.transaction(async (tx) => {
    if (await findClusterByName(tx, organizationId, name))
      throw validationFailed("Name has already been taken");
    const cluster: Cluster = {
      id: newId(now),
      organizationId,
      name,
      description: input.description || null,
      emoji: input.emoji || null,
      color: input.color || null,
      defaultQueueId: null,
      queueCount: 0,
      createdAt: now,
      createdById: actor.userId,
      deletedAt: null,
    };
    await insertCluster(tx, cluster);
    await recordOfCluster(tx, actor, cluster, "created", now);
    return cluster;
  });
}

export interface ClusterChange extends Partial<NewCluster> {
  /** Null: steps that name no queue cannot run. */
  defaultQueueId?: string | null | undefined;
}

/**
 * @param needsDefault how many pipelines of the cluster have a step that names no queue: another capability knows
 * @throws Refusal 404, 422
 */
export async function updateCluster(
  services: Services,
  actor: Actor,
  of: Cluster,
  change: ClusterChange,
  needsDefault: (tx: Tx, cluster: Cluster) => Promise<number>,
): Promise<Cluster> {
  const now = services.clock.now();
  const updated = await services.db.transaction(async (tx) => {
    const cluster = await lockCluster(tx, of.id);
    if (!cluster) throw notFound("cluster");
    const { defaultQueueId } = change;
    const name = change.name?.trim();
    const namesake =
      name === undefined ? undefined : await findClusterByName(tx, cluster.organizationId, name);
    if (namesake && namesake.id !== cluster.id) throw validationFailed("Name has already been taken");
    if (typeof defaultQueueId === "string" && !(await isQueueOf(tx, cluster, defaultQueueId)))
      throw validationFailed("Default queue must be a queue of the cluster");
    if (defaultQueueId === null && cluster.defaultQueueId !== null) {
      const pipelines = await needsDefault(tx, cluster);
      if (pipelines > 0)
        throw validationFailed(`Default queue is needed by the steps of ${pipelines} pipelines`);
    }
    const given = Object.entries({ ...change, name }).filter(([, value]) => value !== undefined);
    const columns: ClusterChange = Object.fromEntries(
      given.map(([column, value]) => [column, value || null]),
    );
    await updateClusterRow(tx, cluster.id, columns as Partial<Cluster>);
    await recordOfCluster(tx, actor, cluster, "updated", now);
    return { ...cluster, ...(columns as Partial<Cluster>) };
  });
  services.events.publish([`cluster:${of.id}`]);
  return updated;
}

async function isQueueOf(tx: Tx, cluster: Cluster, id: string): Promise<boolean> {
  return isId(id) && (await findQueue(tx, cluster.id, id)) !== undefined;
}

/**
 * Delete a cluster that nothing runs in; its queues go with it.
 * @param dependents how many pipelines do, and how many of its jobs are unfinished: another capability knows
 * @throws Refusal 404, 422
 */
export async function deleteCluster(
  services: Services,
  actor: Actor,
  of: Cluster,
  dependents: (tx: Tx, cluster: Cluster) => Promise<{ pipelines: number; unfinishedJobs: number }>,
): Promise<void> {
  const now = services.clock.now();
  await services.db.transaction(async (tx) => {
    const cluster = await lockCluster(tx, of.id);
    if (!cluster) throw notFound("cluster");
    const { pipelines, unfinishedJobs } = await dependents(tx, cluster);
    if (pipelines > 0) throw new Refusal(422, `Cluster has ${pipelines} pipelines`);
    if (unfinishedJobs > 0) throw new Refusal(422, `Cluster has ${unfinishedJobs} unfinished jobs`);
    await deleteClusterRow(tx, cluster.id, now);
    await recordOfCluster(tx, actor, cluster, "deleted", now);
  });
  services.events.publish([`cluster:${of.id}`]);
}

/** @throws Refusal 404 */
export async function requireCluster(db: Db | Tx, organizationId: string, id: string): Promise<Cluster> {
  const cluster = isId(id) ? await findCluster(db, organizationId, id) : undefined;
  if (!cluster) throw notFound("cluster");
  return cluster;
}

function recordOfCluster(
  tx: Tx,
  actor: Actor,
  { id, name }: Cluster,
  action: string,
  now: Date,
): Promise<void> {
  return audit(tx, actor, action, { type: "cluster", id, name });
}
