import { and, asc, count, eq, gte, isNotNull, lt, sql } from "drizzle-orm";
import { elapsedMs } from "../db/columns.ts";
import type { Db, Reader } from "../db/database.ts";
import { secondMs } from "../durations.ts";
import { type WaitFigure, waitSeconds } from "../vocabulary.ts";

/** The first time from `from` on at which a build finished. */
export async function findFinishTime(db: Db, from: Date): Promise<Date | undefined> {
  const { finishedAt } = db.tables.builds;
  const [found] = await db
    .select({ finishedAt })
    .from(db.tables.builds)
    .where(gte(finishedAt, from))
    .orderBy(asc(finishedAt))
    .limit(1);
  return found?.finishedAt ?? undefined;
}

/** The accepted jobs of builds that finished from `from` on and before `to`, by queue and wait. */
export async function countWaits(db: Reader, from: Date, to: Date) {
  const { builds, jobs } = db.tables;
  const waitedMs = elapsedMs(jobs.scheduledAt, jobs.acceptedAt);
  // Literals: Postgres takes an expression with parameters for another one in GROUP BY.
  const limits = waitSeconds.map(
    (seconds) => sql`when ${waitedMs} <= ${sql.raw(`${seconds * secondMs} then 'waited_${seconds}'`)}`,
  );
  const figure = sql<WaitFigure>`case ${sql.join(limits, sql` `)} else 'waited_longer' end`;
  return db
    .select({ queueId: jobs.queueId, figure, value: count() })
    .from(builds)
    .innerJoin(jobs, eq(jobs.buildId, builds.id))
    .where(
      and(
        gte(builds.finishedAt, from),
        lt(builds.finishedAt, to),
        isNotNull(jobs.queueId),
        isNotNull(jobs.scheduledAt),
        isNotNull(jobs.acceptedAt),
      ),
    )
    .groupBy(jobs.queueId, figure);
}
