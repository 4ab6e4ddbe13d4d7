import { type Actor, audit } from "../accounts/audit.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { notFound, Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import {
  type Cluster,
  countUnfinishedJobs,
  deleteCluster as deleteClusterRow,
  findCluster,
  findClusterByName,
  hasQueue,
  insertCluster,
  listPipelineSteps,
  lockCluster,
  updateCluster as updateClusterRow,
} from "./store.ts";

const nameTaken = { field: "name", message: "Name has already been taken" };

export interface NewCluster {
  /** Trimmed. */
  name: string;
  description?: string | null | undefined;
  emoji?: string | null | undefined;
  color?: string | null | undefined;
}

/**
 * Creates a cluster without a default queue.
 * @throws Refusal 422
 */
export async function createCluster(services: Services, actor: Actor, input: NewCluster): Promise<Cluster> {
  const now = services.clock.now();
  const organizationId = actor.organization.id;
  const name = input.name.trim();
  return services.db.transaction(async (tx) => {
    if (await findClusterByName(tx, organizationId, name)) throw validationFailed(nameTaken);
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
    await audit(tx, actor, "created", auditSubject(cluster));
    return cluster;
  });
}

export interface ClusterChange extends Partial<NewCluster> {
  /** Null: steps that name no queue cannot run. */
  defaultQueueId?: string | null | undefined;
}

/**
 * Changes the given members of a cluster.
 * @throws Refusal 404, 422
 */
export async function updateCluster(
  services: Services,
  actor: Actor,
  { id }: Cluster,
  change: ClusterChange,
): Promise<Cluster> {
  const name = change.name?.trim();
  const updated = await services.db.transaction(async (tx) => {
    const cluster = await lockCluster(tx, id);
    if (!cluster) throw notFound("cluster");
    if (name !== undefined) await requireFreeName(tx, cluster, name);
    await requireUsableDefault(tx, cluster, change.defaultQueueId);

    const given = Object.entries({ ...change, name }).filter(([, value]) => value !== undefined);
    const columns: Partial<Cluster> = Object.fromEntries(
      given.map(([column, value]) => [column, value || null]),
    );
    await updateClusterRow(tx, cluster.id, columns);
    await audit(tx, actor, "updated", auditSubject(cluster));
    return { ...cluster, ...columns };
  });
  services.events.publish([`cluster:${id}`]);
  return updated;
}

async function requireFreeName(tx: Tx, cluster: Cluster, name: string): Promise<void> {
  const namesake = await findClusterByName(tx, cluster.organizationId, name);
  if (namesake && namesake.id !== cluster.id) throw validationFailed(nameTaken);
}

async function requireUsableDefault(
  tx: Tx,
  cluster: Cluster,
  queueId: string | null | undefined,
): Promise<void> {
  const field = "default_queue_id";
  if (typeof queueId === "string" && !(isId(queueId) && (await hasQueue(tx, cluster.id, queueId))))
    throw validationFailed({ field, message: "Default queue must be a queue of the cluster" });
  if (queueId !== null || cluster.defaultQueueId === null) return;

  const pipelines = await listPipelineSteps(tx, cluster.id);
  const { length } = pipelines.filter((steps) => steps.some((step) => step.agents?.queue === undefined));
  if (length > 0)
    throw validationFailed({ field, message: `Default queue is needed by the steps of ${length} pipelines` });
}

/**
 * Deletes a cluster and its queues.
 * @throws Refusal 404, 422
 */
export async function deleteCluster(services: Services, actor: Actor, { id }: Cluster): Promise<void> {
  const now = services.clock.now();
  await services.db.transaction(async (tx) => {
    const cluster = await lockCluster(tx, id);
    if (!cluster) throw notFound("cluster");
    const { length: pipelines } = await listPipelineSteps(tx, id);
    if (pipelines > 0) throw new Refusal(422, `Cluster has ${pipelines} pipelines`);
    const unfinishedJobs = await countUnfinishedJobs(tx, id);
    if (unfinishedJobs > 0) throw new Refusal(422, `Cluster has ${unfinishedJobs} unfinished jobs`);

    await deleteClusterRow(tx, id, now);
    await audit(tx, actor, "deleted", auditSubject(cluster));
  });
  services.events.publish([`cluster:${id}`]);
}

/** @throws Refusal 404 */
export async function requireCluster(db: Db | Tx, organizationId: string, id: string): Promise<Cluster> {
  const cluster = isId(id) ? await findCluster(db, organizationId, id) : undefined;
  if (!cluster) throw notFound("cluster");
  return cluster;
}

function auditSubject({ id, name }: Cluster) {
  return { type: "cluster", id, name } as const;
}
