import { and, eq, isNull } from "drizzle-orm";
import type { Tx } from "../../db/database.ts";
import { isTrueByStep, type JobFacts } from "../rows/job-store.ts";

/** scheduled → failed, of all jobs of a build that have no queue. They have the reason since they were made. */
export async function failQueuelessIfScheduled(
  tx: Tx,
  buildId: string,
): Promise<Pick<JobFacts, "id" | "type" | "state">[]> {
  const { jobs } = tx.tables;
  return tx
    .update(jobs)
    .set({ state: "failed", finishedAt: tx.now, softFailed: isTrueByStep(tx, "soft_fail") })
    .where(
      and(
        eq(jobs.buildId, buildId),
        eq(jobs.state, "scheduled"),
        eq(jobs.type, "script"),
        isNull(jobs.queueId),
      ),
    )
    .returning({ id: jobs.id, type: jobs.type, state: jobs.state });
}
