import { and, asc, eq, gt, inArray, isNull, type SQL, sql } from "drizzle-orm";
import { countOf } from "../db/columns.ts";
import type { Reader } from "../db/database.ts";
import { type JobState, leasedJobStates, waitingJobStates } from "../vocabulary.ts";

/** The limit of each count. */
export const maxCounted = 1000;

/** Counts waiting jobs, running jobs and connected agents of each queue. @param afterId empty: from the first queue */
export async function countWorkOfQueues(db: Reader, afterId: string, limit: number) {
  const { queues } = db.tables;
  return db
    .select({
      id: queues.id,
      waiting: countJobs(db, ["scheduled"]),
      running: countJobs(db, leasedJobStates),
      connected: countOf(connectedAgents(db)),
    })
    .from(queues)
    .where(and(isNull(queues.deletedAt), afterId ? gt(queues.id, afterId) : undefined))
    .orderBy(asc(queues.id))
    .limit(limit);
}

/** Counts jobs and connected agents of each queue of a cluster. @param afterId empty: from the first queue */
export async function listWorkOfCluster(db: Reader, clusterId: string, afterId: string, limit: number) {
  const { queues } = db.tables;
  const where = and(
    eq(queues.clusterId, clusterId),
    isNull(queues.deletedAt),
    afterId ? gt(queues.id, afterId) : undefined,
  );
  return db
    .select({
      id: queues.id,
      key: queues.key,
      isPaused: sql<boolean>`${queues.dispatchPausedAt} is not null`.mapWith(Boolean),
      scheduled: countJobs(db, ["scheduled"]),
      running: countJobs(db, leasedJobStates),
      waiting: countJobs(db, [...waitingJobStates, "limited"]),
      connected: countOf(connectedAgents(db)),
      busy: sql<number>`(select count(job_id) from (${connectedAgents(db)}) as some_agents)`.mapWith(Number),
    })
    .from(queues)
    .where(where)
    .orderBy(asc(queues.id))
    .limit(limit);
}

/** For a select of queues. */
function countJobs(db: Reader, states: JobState[]): SQL<number> {
  const { queues, jobs } = db.tables;
  const found = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.queueId, queues.id), inArray(jobs.state, states)))
    .limit(maxCounted);
  return countOf(found);
}

/** For a select of queues. */
function connectedAgents(db: Reader) {
  const { queues, agents } = db.tables;
  return db
    .select({ jobId: agents.jobId })
    .from(agents)
    .where(and(eq(agents.queueId, queues.id), eq(agents.state, "connected")))
    .limit(maxCounted);
}
