import { and, eq, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import type { Tx } from "../db/database.ts";

export async function setPausedQueueIfNone(tx: Tx, buildIds: string[], queueId: string): Promise<void> {
  const { builds } = tx.tables;
  await tx
    .update(builds)
    .set({ pausedQueueId: queueId })
    .where(and(inArray(builds.id, buildIds), isNull(builds.pausedQueueId)));
}

/** Clears the mark of this queue. Another paused queue of a waiting job takes its place. */
export async function clearPausedQueue(tx: Tx, buildIds: string[], queueId: string): Promise<void> {
  const { builds, jobs } = tx.tables;
  const others = await tx
    .select({ buildId: jobs.buildId, queueId: jobs.queueId })
    .from(jobs)
    .where(
      and(inArray(jobs.buildId, buildIds), eq(jobs.state, "scheduled"), isNotNull(jobs.dispatchPausedAt)),
    );
  await tx
    .update(builds)
    .set({ pausedQueueId: null })
    .where(and(inArray(builds.id, buildIds), eq(builds.pausedQueueId, queueId)));
  for (const [otherId, jobsOfOther] of Map.groupBy(others, (other) => other.queueId as string)) {
    const otherBuildIds = jobsOfOther.map(({ buildId }) => buildId);
    await setPausedQueueIfNone(tx, otherBuildIds, otherId);
  }
}

/** Call after changing which jobs of the builds wait or are marked. */
export async function refreshIsPaused(tx: Tx, buildIds: string[]): Promise<void> {
  const { builds, jobs } = tx.tables;
  const waiting = tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.buildId, builds.id), eq(jobs.state, "scheduled"), isNull(jobs.dispatchPausedAt)));
  await tx
    .update(builds)
    .set({ isPaused: sql`${builds.pausedQueueId} is not null and not exists ${waiting}` })
    .where(inArray(builds.id, buildIds));
}
