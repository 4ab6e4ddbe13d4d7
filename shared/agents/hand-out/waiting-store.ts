import { and, asc, desc, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { JobFacts } from "../../builds/rows/job-store.ts";
import type { Db, Tx } from "../../db/database.ts";
import { isOneOf, prepared } from "../../db/prepared.ts";
import { arrivalOf } from "../../db/schema/builds.ts";
import { isScheduled } from "../../dispatch/store.ts";

// Waiting jobs of a queue, by the agent rules that their agent must fulfil. An index has them by queue and rule set, so
// that jobs for other agents cost nothing.

export interface RuleSetOfQueue {
  queueId: string;
  /** As jobs have them. */
  agentRules: string;
}

/** The rule sets that one read looks at in each queue. */
export const maxRuleSets = 50;

/**
 * Lists the rule sets of waiting jobs, of those queues among the given ones that dispatch: up to `maxRuleSets` of each
 * queue, in their order from `from` on.
 */
export const listWaitingRuleSets = prepared<{ ids: string[]; from: string }, RuleSetOfQueue, Db>((db) => {
  const { jobs, queues } = db.tables;
  /** One step through the index, however many jobs have the same rule set. */
  const firstRuleSet = (queueId: SQL, isLater: SQL) =>
    sql`(select ${jobs.agentRules} from ${jobs} where ${jobs.queueId} = ${queueId} and ${isScheduled(jobs)} and ${isLater} order by ${jobs.queueId}, ${jobs.agentRules} limit 1)`;
  const first = firstRuleSet(sql`${queues.id}`, sql`${jobs.agentRules} >= ${sql.placeholder("from")}`);
  const next = firstRuleSet(sql`rule_sets.queue_id`, sql`${jobs.agentRules} > rule_sets.agent_rules`);
  const dispatches = and(
    isOneOf(queues.id, "ids"),
    isNull(queues.dispatchPausedAt),
    isNull(queues.deletedAt),
  );
  const ruleSets = sql`(
    with recursive rule_sets(queue_id, agent_rules, number) as (
      select ${queues.id}, ${first}, 1 from ${queues} where ${dispatches}
      union all
      select rule_sets.queue_id, ${next}, rule_sets.number + 1 from rule_sets where rule_sets.agent_rules is not null and rule_sets.number < ${sql.raw(`${maxRuleSets}`)}
    ) select queue_id, agent_rules from rule_sets where agent_rules is not null) as found`;
  return db
    .select({ queueId: sql<string>`found.queue_id`, agentRules: sql<string>`found.agent_rules` })
    .from(ruleSets);
});

export type WaitingJob = Pick<
  JobFacts,
  "id" | "buildId" | "retryOfJobId" | "scheduledAt" | "priority" | "agentRules"
> & {
  arrivedAt: Date;
};

/** The first jobs of a queue for agents that fulfil a rule set. */
export const listWaitingJobs = prepared<
  { queueId: string; agentRules: string; limit: number },
  WaitingJob,
  Tx
>((tx) => {
  const { jobs } = tx.tables;
  const { id, buildId, retryOfJobId, scheduledAt, priority, agentRules } = jobs;
  const arrival = arrivalOf(jobs);
  return tx
    .select({
      id,
      buildId,
      retryOfJobId,
      scheduledAt,
      priority,
      agentRules,
      arrivedAt: sql<Date>`${arrival}`.mapWith(jobs.scheduledAt),
    })
    .from(jobs)
    .where(
      and(
        eq(jobs.queueId, sql.placeholder("queueId")),
        eq(jobs.agentRules, sql.placeholder("agentRules")),
        isScheduled(jobs),
      ),
    )
    .orderBy(desc(priority), asc(arrival), asc(id))
    .limit(sql.placeholder("limit"));
});
