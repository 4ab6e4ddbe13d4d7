import { and, asc, eq, inArray, isNull, type SQL, sql } from "drizzle-orm";
import { countOf } from "../db/columns.ts";
import type { Db, Tx } from "../db/database.ts";
import { preparedRow } from "../db/prepared.ts";
import { findRow, ownedRows } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";
import { unfinishedJobStates } from "../vocabulary.ts";

export type Cluster = Tables["clusters"]["$inferSelect"];

/** The limit of lists without pages. */
export const maxRows = 100_000;

export const {
  find: findCluster,
  listPage: listClustersPage,
  count: countClusters,
  insert: insertCluster,
  updateIfPresent: updateCluster,
  /** Call before changing its queues, pipelines or default. */
  lock: lockCluster,
} = ownedRows<Cluster>(({ clusters }) => clusters, { owner: "organizationId", ended: "deletedAt" });

export function findClusterById(db: Db | Tx, id: string): Promise<Cluster | undefined> {
  const { clusters } = db.tables;
  return findRow(db, clusters, and(eq(clusters.id, id), isNull(clusters.deletedAt)));
}

export const findClusterName = preparedRow<{ id: string }, { name: string }>((db) => {
  const { clusters } = db.tables;
  return db
    .select({ name: clusters.name })
    .from(clusters)
    .where(eq(clusters.id, sql.placeholder("id")));
});

export function findClusterByName(
  db: Db | Tx,
  organizationId: string,
  name: string,
): Promise<Cluster | undefined> {
  const { clusters } = db.tables;
  return findRow(
    db,
    clusters,
    and(eq(clusters.organizationId, organizationId), eq(clusters.name, name), isNull(clusters.deletedAt)),
  );
}

/** All clusters, oldest first. */
export async function listClusters(db: Db, organizationId: string): Promise<Cluster[]> {
  const { clusters } = db.tables;
  return db
    .select()
    .from(clusters)
    .where(isPresent(db, organizationId))
    .orderBy(asc(clusters.createdAt), asc(clusters.id))
    .limit(maxRows);
}

export type ClusterName = Pick<Cluster, "id" | "name">;

/** The first clusters, oldest first. */
export async function listClusterNames(
  db: Db,
  organizationId: string,
  limit: number,
): Promise<ClusterName[]> {
  const { clusters } = db.tables;
  return db
    .select({ id: clusters.id, name: clusters.name })
    .from(clusters)
    .where(isPresent(db, organizationId))
    .orderBy(asc(clusters.createdAt), asc(clusters.id))
    .limit(limit);
}

/** The organization's cluster, if it has one only. */
export async function findOnlyCluster(db: Db, organizationId: string): Promise<ClusterName | undefined> {
  const [first, second] = await listClusterNames(db, organizationId, 2);
  return second ? undefined : first;
}

function isPresent(db: Db, organizationId: string): SQL | undefined {
  const { clusters } = db.tables;
  return and(eq(clusters.organizationId, organizationId), isNull(clusters.deletedAt));
}

export async function hasQueue(tx: Db | Tx, clusterId: string, queueId: string): Promise<boolean> {
  const { queues } = tx.tables;
  const found = await tx
    .select({ id: queues.id })
    .from(queues)
    .where(and(eq(queues.id, queueId), eq(queues.clusterId, clusterId), isNull(queues.deletedAt)));
  return found.length > 0;
}

/** Includes jobs of pipelines that moved to another cluster. A deleted queue has none. */
export async function countUnfinishedJobs(tx: Tx, clusterId: string): Promise<number> {
  const { jobs, queues } = tx.tables;
  const ofQueue = tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.queueId, queues.id), inArray(jobs.state, unfinishedJobStates)));
  const counts = await tx
    .select({ total: countOf(ofQueue) })
    .from(queues)
    .where(and(eq(queues.clusterId, clusterId), isNull(queues.deletedAt)));
  return counts.reduce((sum, { total }) => sum + total, 0);
}

export async function listSecretIds(db: Db, clusterId: string): Promise<string[]> {
  const { secrets } = db.tables;
  const rows = await db.select({ id: secrets.id }).from(secrets).where(eq(secrets.clusterId, clusterId));
  return rows.map(({ id }) => id);
}

/** Its secrets are deleted for good. */
export async function deleteCluster(tx: Tx, id: string, now: Date): Promise<void> {
  const { clusters, queues, secrets } = tx.tables;
  await tx.delete(secrets).where(eq(secrets.clusterId, id));
  await tx.update(clusters).set({ deletedAt: now }).where(eq(clusters.id, id));
  await tx
    .update(queues)
    .set({ deletedAt: now })
    .where(and(eq(queues.clusterId, id), isNull(queues.deletedAt)));
}
