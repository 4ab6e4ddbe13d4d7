import { and, asc, count, desc, eq, inArray, lt, not, sql, sum } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { isOneOf, prepared, preparedRow } from "../../db/prepared.ts";
import { deleteRows } from "../../db/rows.ts";
import type { Tables } from "../../db/schema.ts";
import { type Build, beginning } from "../rows/build-store.ts";
import { factColumns, type JobFacts } from "../rows/job-store.ts";

export type JobToken = Tables["jobTokens"]["$inferSelect"];

const maxStartCharacters = 200;

export const listMetaData = prepared<{ buildIds: string[] }, Tables["metaData"]["$inferSelect"], Db>((db) => {
  const { metaData } = db.tables;
  return db.select().from(metaData).where(isOneOf(metaData.buildId, "buildIds")).orderBy(asc(metaData.key));
});

/** The beginnings of the first values of a build. */
export async function listMetaDataStarts(db: Db, buildId: string, limit: number) {
  const { metaData } = db.tables;
  return db
    .select({ key: metaData.key, start: beginning<string>(metaData.value, maxStartCharacters) })
    .from(metaData)
    .where(eq(metaData.buildId, buildId))
    .orderBy(asc(metaData.key))
    .limit(limit);
}

export async function listMetaDataKeys(db: Db, buildId: string): Promise<string[]> {
  return (await keysOfBuild(db, { buildId })).map(({ key }) => key);
}

const keysOfBuild = prepared<{ buildId: string }, { key: string }, Db>((db) => {
  const { metaData } = db.tables;
  const isOfBuild = eq(metaData.buildId, sql.placeholder("buildId"));
  return db.select({ key: metaData.key }).from(metaData).where(isOfBuild).orderBy(asc(metaData.key));
});

/** Measures the meta-data of builds, without some keys. */
export async function measureMetaData(
  db: Db | Tx,
  buildIds: string[],
  leftOut: string[] = [],
): Promise<{ keys: number; bytes: number }> {
  const found = await sizeOfMetaData(db, { buildIds, leftOut });
  return { keys: found?.keys ?? 0, bytes: found?.bytes ?? 0 };
}

const sizeOfMetaData = preparedRow<
  { buildIds: string[]; leftOut: string[] },
  { keys: number; bytes: number | null }
>((db) => {
  const { metaData } = db.tables;
  const bytes = sql`octet_length(${metaData.key}) + octet_length(${metaData.value})`;
  return db
    .select({ keys: count(), bytes: sum(bytes).mapWith(Number) })
    .from(metaData)
    .where(and(isOneOf(metaData.buildId, "buildIds"), not(isOneOf(metaData.key, "leftOut"))));
});

export async function findMetaData(db: Db, buildId: string, key: string): Promise<string | undefined> {
  return (await valueOfKey(db, { buildId, key }))?.value;
}

const valueOfKey = preparedRow<{ buildId: string; key: string }, { value: string }, Db>((db) => {
  const { metaData } = db.tables;
  const isOfBuild = eq(metaData.buildId, sql.placeholder("buildId"));
  return db
    .select({ value: metaData.value })
    .from(metaData)
    .where(and(isOfBuild, eq(metaData.key, sql.placeholder("key"))));
});

/** Give each key once. */
export async function putMetaData(
  tx: Tx,
  rows: { buildId: string; key: string; value: string }[],
): Promise<void> {
  const { metaData } = tx.tables;
  if (rows.length === 0) return;
  await tx
    .insert(metaData)
    .values(rows)
    .onConflictDoUpdate({
      target: [metaData.buildId, metaData.key],
      set: { value: sql`excluded.value` },
    });
}

export async function insertJobToken(tx: Tx, token: JobToken): Promise<void> {
  await tx.insertMany(tx.tables.jobTokens, [token]);
}

type AttemptOfJob = { jobId: string; attempt: number };

const tokensOfAttempt = prepared<AttemptOfJob, Pick<JobToken, "tokenHash">, Tx>((tx) => {
  const { jobTokens } = tx.tables;
  const isOfJob = eq(jobTokens.jobId, sql.placeholder("jobId"));
  return tx
    .select({ tokenHash: jobTokens.tokenHash })
    .from(jobTokens)
    .where(and(isOfJob, eq(jobTokens.attempt, sql.placeholder("attempt"))))
    .orderBy(desc(jobTokens.createdAt));
});

/** Deletes the tokens of an attempt but the newest. */
export async function deleteOldJobTokens(
  tx: Tx,
  { jobId, attempt, kept }: AttemptOfJob & { kept: number },
): Promise<void> {
  const { jobTokens } = tx.tables;
  const tokens = await tokensOfAttempt(tx, { jobId, attempt });
  const old = tokens.slice(kept).map(({ tokenHash }) => tokenHash);
  if (old.length > 0) await tx.delete(jobTokens).where(inArray(jobTokens.tokenHash, old));
}

type JobOfToken = Pick<JobToken, "attempt" | "readOnly" | "expiresAt"> & { job: JobFacts; build: Build };

const jobOfToken = prepared<{ tokenHash: string }, JobOfToken, Db>((db) => {
  const { jobTokens, jobs, builds } = db.tables;
  return db
    .select({
      job: factColumns(db),
      attempt: jobTokens.attempt,
      readOnly: jobTokens.readOnly,
      expiresAt: jobTokens.expiresAt,
      build: builds,
    })
    .from(jobTokens)
    .innerJoin(jobs, eq(jobs.id, jobTokens.jobId))
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .where(eq(jobTokens.tokenHash, sql.placeholder("tokenHash")));
});

/** Undefined if the token is unknown or expired. */
export async function findJobOfToken(db: Db, tokenHash: string, now: Date): Promise<JobOfToken | undefined> {
  const [found] = await jobOfToken(db, { tokenHash });
  return found && found.expiresAt > now ? found : undefined;
}

export function deleteJobTokensExpiredBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { tokenHash, expiresAt } = tx.tables.jobTokens;
  return deleteRows(tx, { key: tokenHash, where: lt(expiresAt, time) }, limit);
}
