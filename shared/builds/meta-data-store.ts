import { and, asc, eq, inArray, lt } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";

export type JobToken = Tables["jobTokens"]["$inferSelect"];

export async function listMetaData(db: Db, buildIds: string[]) {
  const { metaData } = db.tables;
  if (buildIds.length === 0) return [];
  return db.select().from(metaData).where(inArray(metaData.buildId, buildIds)).orderBy(asc(metaData.key));
}

export async function findMetaData(db: Db, buildId: string, key: string): Promise<string | undefined> {
  const { metaData } = db.tables;
  const [found] = await db
    .select({ value: metaData.value })
    .from(metaData)
    .where(and(eq(metaData.buildId, buildId), eq(metaData.key, key)));
  return found?.value;
}

export async function putMetaData(
  tx: Tx,
  row: { buildId: string; key: string; value: string },
): Promise<void> {
  const { metaData } = tx.tables;
  await tx
    .insert(metaData)
    .values(row)
    .onConflictDoUpdate({ target: [metaData.buildId, metaData.key], set: { value: row.value } });
}

export async function insertJobToken(tx: Tx, token: JobToken): Promise<void> {
  await tx.insert(tx.tables.jobTokens).values(token);
}

/** Undefined if the token is unknown or expired. */
export async function findJobOfToken(db: Db, tokenHash: string, now: Date) {
  const { jobTokens, jobs, builds } = db.tables;
  const [found] = await db
    .select({ jobId: jobs.id, readOnly: jobTokens.readOnly, expiresAt: jobTokens.expiresAt, build: builds })
    .from(jobTokens)
    .innerJoin(jobs, eq(jobs.id, jobTokens.jobId))
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .where(eq(jobTokens.tokenHash, tokenHash));
  return found && found.expiresAt > now ? found : undefined;
}

export async function deleteJobTokensExpiredBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { jobTokens } = tx.tables;
  const old = tx
    .select({ tokenHash: jobTokens.tokenHash })
    .from(jobTokens)
    .where(lt(jobTokens.expiresAt, time))
    .limit(limit);
  const deleted = await tx
    .delete(jobTokens)
    .where(inArray(jobTokens.tokenHash, old))
    .returning({ tokenHash: jobTokens.tokenHash });
  return deleted.length;
}
