import { and, asc, desc, eq, getTableColumns, gte, inArray, isNotNull, isNull, max, sql } from "drizzle-orm";
import type { Build } from "../builds/rows/build-store.ts";
import { factColumns, type JobFacts } from "../builds/rows/job-store.ts";
import type { Db, Tx } from "../db/database.ts";
import { selectCountUpTo } from "../db/list-page.ts";
import { prepared, preparedRow } from "../db/prepared.ts";
import { Refusal } from "../refusal.ts";
import { stored } from "../sharing/bounds.ts";
import { unfinishedJobStates } from "../vocabulary.ts";

const { uploads: maxUploads } = stored.uploads.max;
const replaceable = unfinishedJobStates.filter((state) => state !== "running");

/** Locks the cluster for reading, so that queues of new jobs stay until the commit. */
export async function lockClusterOfJobs(tx: Tx, id: string): Promise<void> {
  await lockCluster(tx, { id });
}

const lockCluster = prepared<{ id: string }, unknown, Tx>((tx) => {
  const { clusters } = tx.tables;
  return tx.lock(clusters, eq(clusters.id, sql.placeholder("id")), "shared");
});

export async function hasUpload(db: Db | Tx, jobId: string, id: string): Promise<boolean> {
  return (await uploadOfJob(db, { jobId, id })) !== undefined;
}

const uploadOfJob = preparedRow<{ jobId: string; id: string }, { id: string }>((db) => {
  const { pipelineUploads } = db.tables;
  const isOfJob = eq(pipelineUploads.jobId, sql.placeholder("jobId"));
  return db
    .select({ id: pipelineUploads.id })
    .from(pipelineUploads)
    .where(and(isOfJob, eq(pipelineUploads.id, sql.placeholder("id"))));
});

/**
 * Keeps an upload, or the id of an update of a step.
 * @throws Refusal 422 if the job has too many
 */
export async function insertUpload(
  tx: Tx,
  upload: Pick<StepUpload, "jobId" | "id"> & Partial<Pick<StepUpload, "jobsMade" | "isReplacing">>,
): Promise<void> {
  const present = await countUploads(tx, { jobId: upload.jobId });
  if ((present?.total ?? 0) >= maxUploads)
    throw new Refusal(422, `A job can upload and update steps ${maxUploads.toLocaleString("en")} times`);
  const row = { jobsMade: null, isReplacing: false, ...upload, createdAt: tx.now };
  await tx.insertMany(tx.tables.pipelineUploads, [row]);
}

const countUploads = preparedRow<{ jobId: string }, { total: number }, Tx>((tx) => {
  const { pipelineUploads } = tx.tables;
  const isOfJob = eq(pipelineUploads.jobId, sql.placeholder("jobId"));
  return selectCountUpTo(tx, pipelineUploads, isOfJob, maxUploads);
});

export type StepUpload = Db["tables"]["pipelineUploads"]["$inferSelect"];

/** At most one of the two ids is set. */
interface UploadPage {
  limit: number;
  olderThan?: string;
  newerThan?: string;
}

/** A page of the uploads of a build's jobs, newest first, and one more at the far end if there is one. */
export async function listUploads(
  db: Db,
  buildId: string,
  { limit, olderThan, newerThan }: UploadPage,
  jobId?: string,
): Promise<StepUpload[]> {
  const { pipelineUploads, jobs } = db.tables;
  const { id, createdAt } = pipelineUploads;
  const isOfBuild = and(eq(jobs.buildId, buildId), jobId === undefined ? undefined : eq(jobs.id, jobId));
  const from = olderThan ?? newerThan;
  // Jobs choose the ids of uploads: the table has an index by job only.
  const place = db
    .select({ createdAt, id })
    .from(jobs)
    .innerJoin(pipelineUploads, eq(pipelineUploads.jobId, jobs.id))
    .where(and(eq(jobs.buildId, buildId), eq(id, from ?? "")))
    .limit(1);
  const isBeyond = sql`(${createdAt}, ${id}) ${sql.raw(newerThan ? ">" : "<")} (${place})`;
  const order = newerThan ? asc : desc;
  const rows = await db.offLoop
    .select(getTableColumns(pipelineUploads))
    .from(pipelineUploads)
    .innerJoin(jobs, eq(jobs.id, pipelineUploads.jobId))
    .where(and(isOfBuild, isNotNull(pipelineUploads.jobsMade), from ? isBeyond : undefined))
    .orderBy(order(createdAt), order(id))
    .limit(limit + 1);
  return newerThan ? rows.reverse() : rows;
}

export async function findUpload(db: Db, buildId: string, id: string): Promise<StepUpload | undefined> {
  const { pipelineUploads, jobs } = db.tables;
  const isUpload = and(eq(pipelineUploads.id, id), isNotNull(pipelineUploads.jobsMade));
  const [found] = await db
    .select(getTableColumns(pipelineUploads))
    .from(jobs)
    .innerJoin(pipelineUploads, eq(pipelineUploads.jobId, jobs.id))
    .where(and(eq(jobs.buildId, buildId), isUpload));
  return found;
}

/** The position behind the jobs of a step. */
export async function findPositionAfterStep(
  tx: Tx,
  { buildId, stepId, position }: Pick<JobFacts, "buildId" | "stepId" | "position">,
): Promise<number> {
  const found = await lastOfStep(tx, { buildId, stepId });
  return (found?.last ?? position) + 1;
}

type StepOfBuild = Pick<JobFacts, "buildId" | "stepId">;
const lastOfStep = preparedRow<StepOfBuild, { last: number | null }, Tx>((tx) => {
  const { jobs } = tx.tables;
  const isOfBuild = eq(jobs.buildId, sql.placeholder("buildId"));
  return tx
    .select({ last: max(jobs.position) })
    .from(jobs)
    .where(and(isOfBuild, eq(jobs.stepId, sql.placeholder("stepId"))));
});

/** Makes room for new jobs, from a position on. */
export const moveJobs = prepared<{ buildId: string; position: number; by: number }, { id: string }, Tx>(
  (tx) => {
    const { jobs } = tx.tables;
    return tx
      .update(jobs)
      .set({ position: sql`${jobs.position} + ${sql.placeholder("by")}` })
      .where(
        and(eq(jobs.buildId, sql.placeholder("buildId")), gte(jobs.position, sql.placeholder("position"))),
      )
      .returning({ id: jobs.id });
  },
);

/**
 * waiting, scheduled, or assigned and not accepted → canceled. The job of a trigger step runs without being accepted.
 * Soft failures: the build does not fail for them.
 * @returns the changed jobs
 */
export async function replaceIfNotStarted(tx: Tx, buildId: string): Promise<JobFacts[]> {
  const { jobs } = tx.tables;
  return tx
    .update(jobs)
    .set({
      state: "canceled",
      softFailed: true,
      failureReason: "Replaced by a pipeline upload",
      finishedAt: tx.now,
      dispatchPausedAt: null,
      unblockable: false,
    })
    .where(and(eq(jobs.buildId, buildId), inArray(jobs.state, replaceable), isNull(jobs.acceptedAt)))
    .returning(factColumns(tx));
}

export async function setUploadedEnvironment(tx: Tx, buildId: string, sealed: string | null): Promise<void> {
  const { builds } = tx.tables;
  await tx.update(builds).set({ uploadedEnvironmentSealed: sealed }).where(eq(builds.id, buildId));
}

/** Sets whom a build tells of itself, and that its steps tell of theirs. */
export async function setNotices(
  tx: Tx,
  buildId: string,
  notices: Partial<Pick<Build, "notify" | "tellsOfJobs">>,
): Promise<void> {
  const { builds } = tx.tables;
  await tx.update(builds).set(notices).where(eq(builds.id, buildId));
}

export async function setHasMembers(tx: Tx, buildId: string): Promise<void> {
  const { builds } = tx.tables;
  await tx.update(builds).set({ hasMembers: true }).where(eq(builds.id, buildId));
}
