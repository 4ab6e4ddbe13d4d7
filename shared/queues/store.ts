import { and, asc, count, eq, inArray, or } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";

export type Cluster = Tables["clusters"]["$inferSelect"];
export type Queue = Tables["queues"]["$inferSelect"];

export async function findCluster(
  db: Db | Tx,
  organizationId: string,
  id: string,
): Promise<Cluster | undefined> {
  const { clusters } = db.tables;
  const [found] = await db
    .select()
    .from(clusters)
    .where(and(eq(clusters.id, id), eq(clusters.organizationId, organizationId)));
  return found;
}

export async function findClusterById(db: Db | Tx, id: string): Promise<Cluster | undefined> {
  const [found] = await db.select().from(db.tables.clusters).where(eq(db.tables.clusters.id, id));
  return found;
}

export async function findClusterByName(
  db: Tx,
  organizationId: string,
  name: string,
): Promise<Cluster | undefined> {
  const { clusters } = db.tables;
  const [found] = await db
    .select()
    .from(clusters)
    .where(and(eq(clusters.organizationId, organizationId), eq(clusters.name, name)));
  return found;
}

export async function listClusters(db: Db, organizationId: string): Promise<Cluster[]> {
  const { clusters } = db.tables;
  return db
    .select()
    .from(clusters)
    .where(eq(clusters.organizationId, organizationId))
    .orderBy(asc(clusters.id));
}

export async function insertCluster(tx: Tx, cluster: Cluster): Promise<void> {
  await tx.insert(tx.tables.clusters).values(cluster);
}

export async function setDefaultQueue(tx: Tx, clusterId: string, queueId: string): Promise<void> {
  const { clusters } = tx.tables;
  await tx.update(clusters).set({ defaultQueueId: queueId }).where(eq(clusters.id, clusterId));
}

/** Takes the cluster's row, so that whoever counts its queues next waits for this transaction. */
export async function lockCluster(tx: Tx, cluster: Cluster): Promise<void> {
  const { clusters } = tx.tables;
  await tx.update(clusters).set({ name: cluster.name }).where(eq(clusters.id, cluster.id));
}

export async function countQueues(tx: Tx, clusterId: string): Promise<number> {
  const { queues } = tx.tables;
  const [row] = await tx.select({ total: count() }).from(queues).where(eq(queues.clusterId, clusterId));
  return row?.total ?? 0;
}

export async function findQueueByKey(
  db: Db | Tx,
  clusterId: string,
  key: string,
): Promise<Queue | undefined> {
  const { queues } = db.tables;
  const [found] = await db
    .select()
    .from(queues)
    .where(and(eq(queues.clusterId, clusterId), eq(queues.key, key)));
  return found;
}

export async function listQueues(db: Db, clusterId: string): Promise<Queue[]> {
  const { queues } = db.tables;
  return db.select().from(queues).where(eq(queues.clusterId, clusterId)).orderBy(asc(queues.id));
}

export async function insertQueue(tx: Tx, queue: Queue): Promise<void> {
  await tx.insert(tx.tables.queues).values(queue);
}

/** The default queue of a cluster and those with these keys: what the steps of its pipelines can name. */
export async function listStepQueues(db: Db | Tx, clusterIds: string[], keys: string[]) {
  const { clusters, queues } = db.tables;
  return db
    .select({
      id: queues.id,
      clusterId: queues.clusterId,
      key: queues.key,
      defaultQueueId: clusters.defaultQueueId,
    })
    .from(queues)
    .innerJoin(clusters, eq(clusters.id, queues.clusterId))
    .where(
      and(
        inArray(queues.clusterId, clusterIds),
        keys.length > 0
          ? or(inArray(queues.key, keys), eq(queues.id, clusters.defaultQueueId))
          : eq(queues.id, clusters.defaultQueueId),
      ),
    );
}
