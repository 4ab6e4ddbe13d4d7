import { type Actor, audit } from "../accounts/audit.ts";
import { changesOf } from "../accounts/audit-changes.ts";
import { lockOrganization } from "../accounts/organization-store.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { auditedColumns, changedColumns, newColumns } from "../members/rows.ts";
import { notFound, type Problem, Refusal, validationFailed } from "../refusal.ts";
import { countingChange } from "../retention/records.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import { transactWithDependents } from "./dependents.ts";
import { listDependents } from "./dependents-store.ts";
import { type ClusterChange, clusterMembers, type NewCluster } from "./members.ts";
import {
  type Cluster,
  countClusters,
  countUnfinishedJobs,
  deleteCluster as deleteClusterRow,
  findCluster,
  findClusterByName,
  hasQueue,
  insertCluster,
  listSecretIds,
  lockCluster,
  updateCluster as updateClusterRow,
} from "./store.ts";

const nameTaken = { field: "name", message: "Name has already been taken" };

/**
 * Creates a cluster without a default queue.
 * @throws Refusal 422
 */
export async function createCluster(services: Services, actor: Actor, input: NewCluster): Promise<Cluster> {
  const now = services.clock.now();
  const organizationId = actor.organization.id;
  return services.db.transaction(async (tx) => {
    await lockOrganization(tx, organizationId);
    const countUpTo = (limit: number) => countClusters(tx, organizationId, limit);
    const problems = [
      ...(await newClusterProblems(tx, actor, input)),
      ...(await roomProblems(services.config, stored.clusters, countUpTo)),
    ];
    if (problems.length > 0) throw validationFailed(...problems);
    const cluster: Cluster = {
      ...newColumns<Cluster, keyof typeof clusterMembers>(clusterMembers, input),
      id: newId(now),
      organizationId,
      stepsVersion: 0,
      createdAt: now,
      createdById: actor.userId,
      deletedAt: null,
    };
    await insertCluster(tx, cluster);
    await audit(tx, actor, "created", auditSubject(cluster));
    return cluster;
  });
}

/** The reasons why the organization does not allow the members of a new cluster. */
export async function newClusterProblems(
  db: Db | Tx,
  { organization }: Actor,
  { name }: Partial<Pick<NewCluster, "name">>,
): Promise<Problem[]> {
  const namesake = name === undefined ? undefined : await findClusterByName(db, organization.id, name);
  return namesake ? [nameTaken] : [];
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
  const update = async (tx: Tx, cluster: Cluster, pipelines: number) => {
    const problems = await clusterChangeProblems(tx, cluster, change, async () => pipelines);
    if (problems.length > 0) throw validationFailed(...problems);

    const columns = changedColumns<Cluster>(change);
    await updateClusterRow(tx, cluster.id, columns);
    const after = { ...cluster, ...columns };
    const changes = changesOf({ before: cluster, after, ...auditedColumns<Cluster>(clusterMembers) });
    await audit(tx, actor, "updated", auditSubject(cluster), changes);
    return after;
  };
  const { db } = services;
  const updated =
    change.defaultQueueId === null
      ? await transactWithDependents(db, { clusterId: id, queueKey: null }, update)
      : await db.transaction(async (tx) => {
          const cluster = await lockCluster(tx, id);
          if (!cluster) throw notFound("cluster");
          return update(tx, cluster, 0);
        });
  services.events.publish([`cluster:${id}`]);
  return updated;
}

/** The pipelines of a cluster that need a default queue. */
export async function countDefaultDependents(db: Db, { id }: Cluster): Promise<number> {
  return (await listDependents(db, { clusterId: id, queueKey: null })).length;
}

/**
 * The reasons why a cluster does not allow a change.
 * @param countDefault of the pipelines that need a default queue
 */
export async function clusterChangeProblems(
  db: Db | Tx,
  cluster: Cluster,
  { name, defaultQueueId }: Pick<ClusterChange, "name" | "defaultQueueId">,
  countDefault: () => Promise<number>,
): Promise<Problem[]> {
  const namesake = name === undefined ? undefined : await findClusterByName(db, cluster.organizationId, name);
  const defaultProblem = await findDefaultQueueProblem(db, cluster, defaultQueueId, countDefault);
  return [
    ...(namesake && namesake.id !== cluster.id ? [nameTaken] : []),
    ...(defaultProblem === undefined ? [] : [{ field: "default_queue_id", message: defaultProblem }]),
  ];
}

async function findDefaultQueueProblem(
  db: Db | Tx,
  cluster: Cluster,
  queueId: string | null | undefined,
  countDefault: () => Promise<number>,
): Promise<string | undefined> {
  if (typeof queueId === "string") {
    const isOfCluster = isId(queueId) && (await hasQueue(db, cluster.id, queueId));
    return isOfCluster ? undefined : "Default queue must be a queue of the cluster";
  }
  if (queueId !== null || cluster.defaultQueueId === null) return undefined;

  const pipelines = await countDefault();
  return pipelines > 0 ? `Default queue is needed by the steps of ${pipelines} pipelines` : undefined;
}

/**
 * Deletes a cluster, its queues and its secrets.
 * @throws Refusal 404, 422
 */
export async function deleteCluster(services: Services, actor: Actor, { id }: Cluster): Promise<void> {
  const now = services.clock.now();
  const ids = await listSecretIds(services.db, id);
  const remove = async (tx: Tx, cluster: Cluster, pipelines: number) => {
    if (pipelines > 0) throw new Refusal(422, `Cluster has ${pipelines} pipelines`);
    const unfinishedJobs = await countUnfinishedJobs(tx, id);
    if (unfinishedJobs > 0) throw new Refusal(422, `Cluster has ${unfinishedJobs} unfinished jobs`);

    await deleteClusterRow(tx, id, now);
    await audit(tx, actor, "deleted", auditSubject(cluster));
  };
  await countingChange(services, { kind: "secrets", ids }, () =>
    transactWithDependents(services.db, { clusterId: id }, remove),
  );
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
