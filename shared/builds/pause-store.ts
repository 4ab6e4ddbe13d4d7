import { and, eq, inArray, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import type { Tx } from "../db/database.ts";

/**
 * Brings the pauses of builds into line with their jobs: which paused queue a waiting job is on, and whether all of
 * them are on one. Call it with the builds locked, after changing which of their jobs wait or are marked.
 */
export async function refreshPauses(tx: Tx, buildIds: string[]): Promise<void> {
  const { builds, jobs } = tx.tables;
  // With `exists`, Postgres reads all waiting jobs of the installation.
  const first = (column: typeof jobs.id | typeof jobs.queueId, mark: SQL) =>
    tx
      .select({ column })
      .from(jobs)
      .where(and(eq(jobs.buildId, builds.id), eq(jobs.state, "scheduled"), mark))
      .orderBy(jobs.position)
      .limit(1);
  const isMarked = isNotNull(jobs.dispatchPausedAt);
  const isUnmarked = isNull(jobs.dispatchPausedAt);
  await tx
    .update(builds)
    .set({
      pausedQueueId: sql`${first(jobs.queueId, isMarked)}`,
      isPaused: sql`${first(jobs.id, isMarked)} is not null and ${first(jobs.id, isUnmarked)} is null`,
    })
    .where(inArray(builds.id, buildIds));
}
