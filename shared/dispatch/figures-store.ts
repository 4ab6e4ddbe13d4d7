import { and, asc, eq, gt, inArray, isNull } from "drizzle-orm";
import { countOf } from "../db/columns.ts";
import type { Reader } from "../db/database.ts";
import { type JobState, leasedJobStates } from "../vocabulary.ts";

/** The limit of each count. */
const maxCounted = 1000;

/** Counts waiting jobs, running jobs and connected agents of each queue. @param afterId empty: from the first queue */
export async function countWorkOfQueues(db: Reader, afterId: string, limit: number) {
  const { queues, jobs, agents } = db.tables;
  const jobsIn = (states: JobState[]) =>
    db
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.queueId, queues.id), inArray(jobs.state, states)))
      .limit(maxCounted);
  const connected = db
    .select({ id: agents.id })
    .from(agents)
    .where(and(eq(agents.queueId, queues.id), eq(agents.state, "connected")))
    .limit(maxCounted);
  return db
    .select({
      id: queues.id,
      waiting: countOf(jobsIn(["scheduled"])),
      running: countOf(jobsIn(leasedJobStates)),
      connected: countOf(connected),
    })
    .from(queues)
    .where(and(isNull(queues.deletedAt), afterId ? gt(queues.id, afterId) : undefined))
    .orderBy(asc(queues.id))
    .limit(limit);
}
