import { and, asc, eq, getTableColumns, inArray, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { findBy, isOneOf, listBy, prepared, preparedRow, valueFor } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";
import { type ArtifactState, finishedJobStates } from "../vocabulary.ts";
import type { BatchKey } from "./signatures.ts";

export type Artifact = Tables["artifacts"]["$inferSelect"];

export const findArtifact = findBy<Artifact, Db>(({ artifacts }) => artifacts.id);

/** In the order in which they were announced. */
export const listBatch = prepared<BatchKey, Artifact>((db) => selectBatch(db));

/** The artifacts of a path in a batch. */
export const listOfPath = prepared<BatchKey & { path: string }, Artifact, Db>((db) =>
  selectBatch(db, eq(db.tables.artifacts.path, sql.placeholder("path"))),
);

function selectBatch(db: Db | Tx, condition?: SQL) {
  const { artifacts } = db.tables;
  const isOfJob = eq(artifacts.jobId, sql.placeholder("jobId"));
  return db
    .select(getTableColumns(artifacts))
    .from(artifacts)
    .where(and(isOfJob, eq(artifacts.batchId, sql.placeholder("batchId")), condition))
    .orderBy(asc(artifacts.position));
}

export const listArtifactsOfJob = prepared<{ jobId: string; ids: string[] }, Artifact, Tx>((tx) => {
  const { artifacts } = tx.tables;
  const isOfJob = eq(artifacts.jobId, sql.placeholder("jobId"));
  return tx
    .select(getTableColumns(artifacts))
    .from(artifacts)
    .where(and(isOneOf(artifacts.id, "ids"), isOfJob));
});

/** Leaves out artifacts that were deleted since their ids were found. */
export const listArtifactsById = listBy<Artifact, Db>(({ artifacts }) => artifacts.id);

/** Counts the artifacts of a build, whatever became of them, and the bytes of their texts. */
export async function measureArtifacts(tx: Tx, buildId: string): Promise<SizeOfArtifacts> {
  return (await sizeOfArtifacts(tx, { buildId })) ?? { artifacts: 0, bytes: 0 };
}

interface SizeOfArtifacts {
  artifacts: number;
  bytes: number;
}

const sizeOfArtifacts = preparedRow<{ buildId: string }, SizeOfArtifacts, Tx>((tx) => {
  const { artifacts } = tx.tables;
  const { path, absolutePath, globPath, url, uploadDestination } = artifacts;
  const texts = [path, absolutePath, globPath, url, uploadDestination];
  const bytes = sql.join(
    texts.map((each) => sql`coalesce(octet_length(${each}), 0)`),
    sql` + `,
  );
  return tx
    .select({
      artifacts: sql`count(*)`.mapWith(Number),
      bytes: sql`coalesce(sum(${bytes}), 0)`.mapWith(Number),
    })
    .from(artifacts)
    .where(eq(artifacts.buildId, sql.placeholder("buildId")));
});

export async function insertArtifacts(tx: Tx, rows: Artifact[]): Promise<void> {
  await tx.insertMany(tx.tables.artifacts, rows);
}

/** new, without bytes → new, with bytes. Leaves out artifacts that have bytes or are not wanted any more. */
export const setStoredIfOpen = prepared<{ ids: string[]; now: Date }, { id: string }, Tx>((tx) => {
  const { artifacts } = tx.tables;
  const isOpen = and(eq(artifacts.state, "new"), isNull(artifacts.storedAt));
  return tx
    .update(artifacts)
    .set({ storedAt: valueFor(artifacts.storedAt, "now"), uploadId: null })
    .where(and(isOneOf(artifacts.id, "ids"), isOpen))
    .returning({ id: artifacts.id });
});

/** Of an artifact whose bytes are not here yet. */
export async function setUploadIfOpen(tx: Tx, id: string, uploadId: string): Promise<void> {
  const { artifacts } = tx.tables;
  await tx
    .update(artifacts)
    .set({ uploadId })
    .where(and(eq(artifacts.id, id), eq(artifacts.state, "new"), isNull(artifacts.storedAt)));
}

/** new → finished. Call it with artifacts whose bytes are there. */
export const finishIfNew = prepared<{ ids: string[]; now: Date }, { id: string }, Tx>((tx) => {
  const { artifacts } = tx.tables;
  return tx
    .update(artifacts)
    .set({ state: "finished", finishedAt: valueFor(artifacts.finishedAt, "now") })
    .where(and(isOneOf(artifacts.id, "ids"), eq(artifacts.state, "new")))
    .returning({ id: artifacts.id });
});

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
    .where(and(sql`${artifacts.state} = 'new'`, lt(artifacts.createdAt, time))) // as in the index
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
