import { and, asc, eq, gt, inArray, isNull, type Placeholder, type SQL, sql } from "drizzle-orm";
import { countOf } from "../db/columns.ts";
import type { Reader } from "../db/database.ts";
import { prepared } from "../db/prepared.ts";
import { type JobState, leasedJobStates, waitingJobStates } from "../vocabulary.ts";

type Limit = number | Placeholder;

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
      busy: countBusy(db),
    })
    .from(queues)
    .where(where)
    .orderBy(asc(queues.id))
    .limit(limit);
}

export type QueueWork = Awaited<ReturnType<typeof selectWorkOfOrganization>>[number];

/**
 * The work of an organization's queues, cluster by cluster, oldest first.
 * `max`: counts of jobs and agents go no further.
 */
export const listWorkOfOrganization = prepared<
  { organizationId: string; limit: number; max: number },
  QueueWork,
  Reader
>(selectWorkOfOrganization);

function selectWorkOfOrganization(db: Reader) {
  const { clusters, queues, jobs } = db.tables;
  // Only the index of scheduled jobs has them in this order.
  const oldest = db
    .select({ at: jobs.scheduledAt })
    .from(jobs)
    .where(and(eq(jobs.queueId, queues.id), sql`${jobs.state} = 'scheduled'`))
    .orderBy(asc(jobs.scheduledAt))
    .limit(1);
  const max = sql.placeholder("max");
  const organizationId = sql.placeholder("organizationId");
  const isOfOrganization = and(eq(clusters.organizationId, organizationId), isNull(clusters.deletedAt));
  return db
    .select({
      queue: queues,
      cluster: { id: clusters.id, name: clusters.name },
      waiting: countJobs(db, ["scheduled"], max),
      connected: countOf(connectedAgents(db, max)),
      busy: countBusy(db, max),
      waitsSince: sql<Date | null>`(${oldest})`.mapWith(jobs.scheduledAt),
    })
    .from(clusters)
    .crossJoin(queues) // an inner join would let SQLite read the queues of all organizations first
    .where(and(isOfOrganization, eq(queues.clusterId, clusters.id), isNull(queues.deletedAt)))
    .orderBy(asc(clusters.createdAt), asc(clusters.id), asc(queues.createdAt), asc(queues.id))
    .limit(sql.placeholder("limit"));
}

/** For a select of queues. */
function countJobs(db: Reader, states: JobState[], max: Limit = maxCounted): SQL<number> {
  const { queues, jobs } = db.tables;
  const found = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.queueId, queues.id), inArray(jobs.state, states)))
    .limit(max);
  return countOf(found);
}

/** For a select of queues. */
function countBusy(db: Reader, max: Limit = maxCounted): SQL<number> {
  return sql<number>`(select count(job_id) from (${connectedAgents(db, max)}) as some_agents)`.mapWith(
    Number,
  );
}

/** For a select of queues. */
function connectedAgents(db: Reader, max: Limit = maxCounted) {
  const { queues, agents } = db.tables;
  return db
    .select({ jobId: agents.jobId })
    .from(agents)
    .where(and(eq(agents.queueId, queues.id), eq(agents.state, "connected")))
    .limit(max);
}
