import { aliasedTable, and, desc, eq, isNotNull, or } from "drizzle-orm";
import type { Db } from "../../db/database.ts";

/** The jobs of a build that people unblocked or retried, the latest first. */
export async function listActsOfPeople(db: Db, buildId: string, limit: number) {
  const { jobs } = db.tables;
  const { id, unblockedById, unblockedAt, retriedById } = jobs;
  const retry = aliasedTable(jobs, "retry");
  return db
    .select({ id, unblockedById, unblockedAt, retriedById, retriedAt: retry.createdAt })
    .from(jobs)
    .leftJoin(retry, eq(retry.id, jobs.retriedInJobId))
    .where(and(eq(jobs.buildId, buildId), or(isNotNull(unblockedById), isNotNull(retriedById))))
    .orderBy(desc(id))
    .limit(limit);
}
