import { and, asc, eq, getTableColumns, inArray, isNull, lt, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { listBy, prepared } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";
import { type ArtifactState, finishedJobStates } from "../vocabulary.ts";
import type { BatchKey } from "./signatures.ts";

export type Artifact = Tables["artifacts"]["$inferSelect"];

export async function findArtifact(db: Db, id: string): Promise<Artifact | undefined> {
  const { artifacts } = db.tables;
  const [found] = await db.select().from(artifacts).where(eq(artifacts.id, id));
  return found;
}

/** In the order in which they were announced. */
export async function listBatch(db: Db | Tx, { jobId, batchId }: BatchKey): Promise<Artifact[]> {
  const { artifacts } = db.tables;
  return db
    .select(getTableColumns(artifacts))
    .from(artifacts)
    .where(and(eq(artifacts.jobId, jobId), eq(artifacts.batchId, batchId)))
    .orderBy(asc(artifacts.position));
}

/** The artifacts of a path in a batch. */
export const listOfPath = prepared<BatchKey & { path: string }, Artifact, Db>((db) => {
  const { artifacts } = db.tables;
  const isOfBatch = and(
    eq(artifacts.jobId, sql.placeholder("jobId")),
    eq(artifacts.batchId, sql.placeholder("batchId")),
  );
  return db
    .select(getTableColumns(artifacts))
    .from(artifacts)
    .where(and(isOfBatch, eq(artifacts.path, sql.placeholder("path"))))
    .orderBy(asc(artifacts.position));
});

export async function listArtifactsOfJob(tx: Tx, jobId: string, ids: string[]): Promise<Artifact[]> {
  const { artifacts } = tx.tables;
  return tx
    .select(getTableColumns(artifacts))
    .from(artifacts)
    .where(and(inArray(artifacts.id, ids), eq(artifacts.jobId, jobId)));
}

/** Leaves out artifacts that were deleted since their ids were found. */
export const listArtifactsById = listBy<Artifact, Db>(({ artifacts }) => artifacts.id);

/** Counts the artifacts of a build, whatever became of them, and the bytes of their texts. */
export async function measureArtifacts(
  tx: Tx,
  buildId: string,
): Promise<{ artifacts: number; bytes: number }> {
  const { artifacts } = tx.tables;
  const { path, absolutePath, globPath, url, uploadDestination } = artifacts;
  const texts = [path, absolutePath, globPath, url, uploadDestination];
  const bytes = sql.join(
    texts.map((each) => sql`coalesce(octet_length(${each}), 0)`),
    sql` + `,
  );
  const [row] = await tx
    .select({
      artifacts: sql`count(*)`.mapWith(Number),
      bytes: sql`coalesce(sum(${bytes}), 0)`.mapWith(Number),
    })
    .from(artifacts)
    .where(eq(artifacts.buildId, buildId));
  return row ?? { artifacts: 0, bytes: 0 };
}

export async function insertArtifacts(tx: Tx, rows: Artifact[]): Promise<void> {
  await tx.insertMany(tx.tables.artifacts, rows);
}

/** new, without bytes → new, with bytes. Undefined: another upload was first, or nobody wants it any more. */
/** @returns false if it is not open */
export async function setStoredIfOpen(tx: Tx, id: string): Promise<boolean> {
  const { artifacts } = tx.tables;
  const isOpen = and(eq(artifacts.id, id), eq(artifacts.state, "new"), isNull(artifacts.storedAt));
  const stored = await tx
    .update(artifacts)
    .set({ storedAt: tx.now, uploadId: null })
    .where(isOpen)
    .returning({ id: artifacts.id });
  return stored.length > 0;
}

/** Of an artifact whose bytes are not here yet. */
export async function setUploadIfOpen(tx: Tx, id: string, uploadId: string): Promise<void> {
  const { artifacts } = tx.tables;
  await tx
    .update(artifacts)
    .set({ uploadId })
    .where(and(eq(artifacts.id, id), eq(artifacts.state, "new"), isNull(artifacts.storedAt)));
}

/** new → finished. Call it with artifacts whose bytes are there. */
export async function finishIfNew(tx: Tx, ids: string[]): Promise<Artifact[]> {
  const { artifacts } = tx.tables;
  if (ids.length === 0) return [];
  return tx
    .update(artifacts)
    .set({ state: "finished", finishedAt: tx.now })
    .where(and(inArray(artifacts.id, ids), eq(artifacts.state, "new")))
    .returning();
}

/** new → error. `isCounted` stays as it was. */
export async function failIfNew(tx: Tx, ids: string[]): Promise<Artifact[]> {
  const { artifacts } = tx.tables;
  if (ids.length === 0) return [];
  return tx
    .update(artifacts)
    .set({ state: "error", finishedAt: tx.now })
    .where(and(inArray(artifacts.id, ids), eq(artifacts.state, "new")))
    .returning();
}

export async function setUncounted(tx: Tx, ids: string[]): Promise<void> {
  const { artifacts } = tx.tables;
  if (ids.length > 0) await tx.update(artifacts).set({ isCounted: false }).where(inArray(artifacts.id, ids));
}

/** The oldest artifacts that nobody has finished. */
export async function listOpenBefore(
  tx: Tx,
  time: Date,
  limit: number,
): Promise<Pick<Artifact, "id" | "organizationId">[]> {
  const { artifacts } = tx.tables;
  return tx
    .select({ id: artifacts.id, organizationId: artifacts.organizationId })
    .from(artifacts)
    .where(and(eq(artifacts.state, "new"), lt(artifacts.createdAt, time)))
    .orderBy(asc(artifacts.createdAt))
    .limit(limit);
}

/** Reads all that are open, off the event loop. */
export async function listOpenOfEndedJobs(
  db: Db,
  limit: number,
): Promise<Pick<Artifact, "id" | "organizationId">[]> {
  const { artifacts, jobs } = db.tables;
  return db.offLoop
    .select({ id: artifacts.id, organizationId: artifacts.organizationId })
    .from(artifacts)
    .innerJoin(jobs, eq(jobs.id, artifacts.jobId))
    .where(and(sql`${artifacts.state} = 'new'`, inArray(jobs.state, finishedJobStates)))
    .orderBy(asc(artifacts.createdAt))
    .limit(limit);
}

/** An artifact as a search looks at it. */
export interface Candidate {
  id: string;
  jobId: string;
  path: string;
  /** Its job was retried. */
  isRetried: boolean;
}

/** The artifacts of a build, oldest first. @param state undefined: any */
export async function listCandidates(
  db: Db,
  buildId: string,
  { state, jobId }: { state: ArtifactState | undefined; jobId: string | undefined },
): Promise<Candidate[]> {
  const { artifacts, jobs } = db.tables;
  const found = await db.offLoop
    .select({
      id: artifacts.id,
      jobId: artifacts.jobId,
      path: artifacts.path,
      retriedInJobId: jobs.retriedInJobId,
    })
    .from(artifacts)
    .innerJoin(jobs, eq(jobs.id, artifacts.jobId))
    .where(
      and(
        eq(artifacts.buildId, buildId),
        state && eq(artifacts.state, state),
        jobId === undefined ? undefined : eq(artifacts.jobId, jobId),
      ),
    )
    .orderBy(asc(artifacts.id));
  return found.map(({ retriedInJobId, ...each }) => ({ ...each, isRetried: retriedInJobId !== null }));
}
