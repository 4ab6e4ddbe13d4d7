import { and, asc, desc, eq, inArray, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import { maxRows } from "../clusters/store.ts";
import type { Db, Tx } from "../db/database.ts";
import { findBy, isOneOf, listBy, prepared, preparedRow } from "../db/prepared.ts";
import { countRows, findRow, ownedRows } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";
import { unfinishedJobStates } from "../vocabulary.ts";

export type Queue = Tables["queues"]["$inferSelect"];

export const {
  listPage: listQueuesPage,
  count: countQueues,
  insert: insertQueue,
  updateIfPresent: updateQueueIfPresent,
} = ownedRows<Queue>(({ queues }) => queues, { owner: "clusterId", ended: "deletedAt" });

export function findQueue(db: Db | Tx, clusterId: string, id: string): Promise<Queue | undefined> {
  return queueOfCluster(db, { clusterId, id });
}

const queueOfCluster = preparedRow<{ clusterId: string; id: string }, Queue>((db) => {
  const { queues } = db.tables;
  const isOfCluster = eq(queues.clusterId, sql.placeholder("clusterId"));
  return db
    .select()
    .from(queues)
    .where(and(eq(queues.id, sql.placeholder("id")), isOfCluster, isNull(queues.deletedAt)));
});

/** Includes deleted queues. */
export async function listQueuesById(db: Db | Tx, ids: string[]): Promise<Map<string, Queue>> {
  const found = await queuesById(db, [...new Set(ids)]);
  return new Map(found.map((queue) => [queue.id, queue]));
}

const queuesById = listBy<Queue>(({ queues }) => queues.id);

export interface QueueWithOwners {
  queue: Queue;
  cluster: { id: string; name: string };
  /** The slug of the organization. */
  organization: string;
}

/** Queues, deleted or not, with their clusters. */
export async function listQueuesWithOwners(db: Db, ids: string[]): Promise<Map<string, QueueWithOwners>> {
  const { clusters, organizations, queues } = db.tables;
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({
      queue: queues,
      cluster: { id: clusters.id, name: clusters.name },
      organization: organizations.slug,
    })
    .from(queues)
    .innerJoin(clusters, eq(clusters.id, queues.clusterId))
    .innerJoin(organizations, eq(organizations.id, clusters.organizationId))
    .where(inArray(queues.id, ids));
  return new Map(rows.map((row) => [row.queue.id, row]));
}

/** Includes deleted queues. */
export const findQueueById = findBy<Queue>(({ queues }) => queues.id);

export function findQueueByKey(db: Db | Tx, clusterId: string, key: string): Promise<Queue | undefined> {
  const { queues } = db.tables;
  return findRow(
    db,
    queues,
    and(eq(queues.clusterId, clusterId), eq(queues.key, key), isNull(queues.deletedAt)),
  );
}

/** All queues, oldest first. */
export async function listQueues(db: Db, clusterId: string): Promise<Queue[]> {
  const { queues } = db.tables;
  return db
    .select()
    .from(queues)
    .where(isPresent(db, clusterId))
    .orderBy(asc(queues.createdAt), asc(queues.id))
    .limit(maxRows);
}

export type QueueKey = Pick<Queue, "id" | "key">;

/** The first queues, oldest first. */
export async function listQueueKeys(db: Db, clusterId: string, limit: number): Promise<QueueKey[]> {
  const { queues } = db.tables;
  return db
    .select({ id: queues.id, key: queues.key })
    .from(queues)
    .where(isPresent(db, clusterId))
    .orderBy(asc(queues.createdAt), asc(queues.id))
    .limit(limit);
}

function isPresent(db: Db, clusterId: string): SQL | undefined {
  const { queues } = db.tables;
  return and(eq(queues.clusterId, clusterId), isNull(queues.deletedAt));
}

/** Newest first, deleted queues included. */
export async function listQueueIds(db: Db, clusterId: string, limit: number): Promise<string[]> {
  const { queues } = db.tables;
  const found = await db
    .select({ id: queues.id })
    .from(queues)
    .where(eq(queues.clusterId, clusterId))
    .orderBy(desc(queues.id))
    .limit(limit);
  return found.map(({ id }) => id);
}

export type PausedQueue = Awaited<ReturnType<typeof selectPaused>>[number];

/** Paused queues of an organization, at most `limit` of them. */
export const listPausedQueues = prepared<{ organizationId: string; limit: number }, PausedQueue, Db>(
  selectPaused,
);

function selectPaused(db: Db) {
  const { clusters, queues } = db.tables;
  return db
    .select({ queue: queues, cluster: { id: clusters.id, name: clusters.name } })
    .from(clusters)
    .innerJoin(queues, eq(queues.clusterId, clusters.id))
    .where(
      and(
        eq(clusters.organizationId, sql.placeholder("organizationId")),
        isNull(clusters.deletedAt),
        isNull(queues.deletedAt),
        isNotNull(queues.dispatchPausedAt),
      ),
    )
    .limit(sql.placeholder("limit"));
}

/** Paused queues of all organizations, in no particular order. */
export async function listAllPausedQueues(db: Db, limit: number): Promise<Queue[]> {
  const { queues } = db.tables;
  return db
    .select()
    .from(queues)
    .where(and(isNotNull(queues.dispatchPausedAt), isNull(queues.deletedAt)))
    .limit(limit);
}

export async function deleteQueueIfPresent(tx: Tx, queue: Queue, now: Date): Promise<boolean> {
  const { queues } = tx.tables;
  const deleted = await tx
    .update(queues)
    .set({ deletedAt: now })
    .where(and(eq(queues.id, queue.id), isNull(queues.deletedAt)))
    .returning({ id: queues.id });
  return deleted.length > 0;
}

export function countUnfinishedJobs(tx: Tx, queueId: string): Promise<number> {
  const { jobs } = tx.tables;
  return countRows(tx, jobs, and(eq(jobs.queueId, queueId), inArray(jobs.state, unfinishedJobStates)));
}

/** The clusters' queues with these keys, and their default queues. */
export const listStepQueues = prepared<
  { clusterIds: string[]; keys: string[] },
  Pick<Queue, "id" | "clusterId" | "key"> & { defaultQueueId: string | null }
>((db) => {
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
        isOneOf(queues.clusterId, "clusterIds"),
        isNull(queues.deletedAt),
        or(isOneOf(queues.key, "keys"), eq(queues.id, clusters.defaultQueueId)),
      ),
    );
});
