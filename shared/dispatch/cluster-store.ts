import { and, asc, eq, inArray, isNotNull, isNull } from "drizzle-orm";
import { countOf } from "../db/columns.ts";
import type { Db } from "../db/database.ts";

/** Keys of the paused queues of each cluster. */
export async function listPausedKeys(
  db: Db,
  clusterIds: string[],
  limit: number,
): Promise<Map<string, string[]>> {
  const { queues } = db.tables;
  const paused = await db
    .select({ clusterId: queues.clusterId, key: queues.key })
    .from(queues)
    .where(
      and(
        inArray(queues.clusterId, clusterIds),
        isNotNull(queues.dispatchPausedAt),
        isNull(queues.deletedAt),
      ),
    )
    .orderBy(asc(queues.clusterId), asc(queues.id))
    .limit(limit);
  const keys = Map.groupBy(paused, ({ clusterId }) => clusterId);
  return new Map([...keys].map(([id, rows]) => [id, rows.map(({ key }) => key)]));
}

/**
 * Counts the queues of each cluster and the jobs that wait there, up to a limit at each queue.
 * @returns isAll: false if a queue reached it
 */
export async function countInClusters(
  db: Db,
  clusterIds: string[],
  limit: number,
): Promise<Map<string, { queues: number; waiting: number; isAll: boolean }>> {
  const { queues, jobs } = db.tables;
  const waiting = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.queueId, queues.id), eq(jobs.state, "scheduled")))
    .limit(limit);
  const counts = await db.offLoop
    .select({
      clusterId: queues.clusterId,
      waiting: countOf(waiting),
    })
    .from(queues)
    .where(and(inArray(queues.clusterId, clusterIds), isNull(queues.deletedAt)));
  return new Map(
    [...Map.groupBy(counts, ({ clusterId }) => clusterId)].map(([id, ofQueues]) => [
      id,
      {
        queues: ofQueues.length,
        waiting: ofQueues.reduce((sum, each) => sum + each.waiting, 0),
        isAll: ofQueues.every((each) => each.waiting < limit),
      },
    ]),
  );
}
