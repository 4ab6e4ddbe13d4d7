import { and, asc, desc, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { JobFacts } from "../../builds/rows/job-store.ts";
import type { Db, Tx } from "../../db/database.ts";
import { isOneOf, prepared } from "../../db/prepared.ts";
import { arrivalOf } from "../../db/schema/builds.ts";
import { isScheduled } from "../../dispatch/store.ts";

// Waiting jobs of a queue, by the rules that their agent must fulfil. An index has them by queue and rules, so that jobs
// for other agents cost nothing.

export interface RulesOfQueue {
  queueId: string;
  /** The rules of some waiting job, as jobs have them. */
  rules: string;
}

/** The kinds of rules that one read looks at in each queue. */
export const maxKinds = 50;

/**
 * Lists the kinds of rules of waiting jobs, of those queues among the given ones that dispatch: up to `maxKinds` of each
 * queue, in their order from `from` on.
 */
export const listWaitingRules = prepared<{ ids: string[]; from: string }, RulesOfQueue, Db>((db) => {
  const { jobs, queues } = db.tables;
  /** One step through the index, however many jobs have the same rules. */
  const firstRules = (queueId: SQL, isLater: SQL) =>
    sql`(select ${jobs.agentRules} from ${jobs} where ${jobs.queueId} = ${queueId} and ${isScheduled(jobs)} and ${isLater} order by ${jobs.queueId}, ${jobs.agentRules} limit 1)`;
  const first = firstRules(sql`${queues.id}`, sql`${jobs.agentRules} >= ${sql.placeholder("from")}`);
  const next = firstRules(sql`kinds.queue_id`, sql`${jobs.agentRules} > kinds.rules`);
  const dispatches = and(
    isOneOf(queues.id, "ids"),
    isNull(queues.dispatchPausedAt),
    isNull(queues.deletedAt),
  );
  const kinds = sql`(
    with recursive kinds(queue_id, rules, number) as (
      select ${queues.id}, ${first}, 1 from ${queues} where ${dispatches}
      union all
      select kinds.queue_id, ${next}, kinds.number + 1 from kinds where kinds.rules is not null and kinds.number < ${sql.raw(`${maxKinds}`)}
    ) select queue_id, rules from kinds where rules is not null) as found`;
  return db.select({ queueId: sql<string>`found.queue_id`, rules: sql<string>`found.rules` }).from(kinds);
});

export type WaitingJob = Pick<
  JobFacts,
  "id" | "buildId" | "retryOfJobId" | "scheduledAt" | "priority" | "agentRules"
> & {
  arrivedAt: Date;
};

/** The first jobs of a queue for agents that fulfil these rules. */
export const listWaitingJobs = prepared<{ queueId: string; rules: string; limit: number }, WaitingJob, Tx>(
  (tx) => {
    const { jobs } = tx.tables;
    const { id, buildId, retryOfJobId, scheduledAt, priority, agentRules } = jobs;
    const arrival = arrivalOf(jobs);
    return tx
      .select({
        ...{ id, buildId, retryOfJobId, scheduledAt, priority, agentRules },
        arrivedAt: sql<Date>`${arrival}`.mapWith(jobs.scheduledAt),
      })
      .from(jobs)
      .where(
        and(
          eq(jobs.queueId, sql.placeholder("queueId")),
          eq(jobs.agentRules, sql.placeholder("rules")),
          isScheduled(jobs),
        ),
      )
      .orderBy(desc(priority), asc(arrival), asc(id))
      .limit(sql.placeholder("limit"));
  },
);
