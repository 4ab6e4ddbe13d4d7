import { and, asc, desc, eq, getTableColumns, gt, inArray, isNotNull, isNull, max, sql } from "drizzle-orm";
import { factColumns, type JobFacts } from "../builds/rows/job-store.ts";
import type { Db, Tx } from "../db/database.ts";
import { countUpTo } from "../db/list-page.ts";
import { Refusal } from "../refusal.ts";
import { stored } from "../sharing/bounds.ts";
import { unfinishedJobStates } from "../vocabulary.ts";

const { uploads: maxUploads } = stored.uploads.max;
const replaceable = unfinishedJobStates.filter((state) => state !== "running");

/** Locks the cluster for reading, so that queues of new jobs stay until the commit. */
export async function lockClusterOfJobs(tx: Tx, id: string): Promise<void> {
  await tx.lock(tx.tables.clusters, eq(tx.tables.clusters.id, id), "shared");
}

export async function hasUpload(db: Db | Tx, jobId: string, id: string): Promise<boolean> {
  const { pipelineUploads } = db.tables;
  const found = await db
    .select({ id: pipelineUploads.id })
    .from(pipelineUploads)
    .where(and(eq(pipelineUploads.jobId, jobId), eq(pipelineUploads.id, id)));
  return found.length > 0;
}

/**
 * Keeps an upload, or the id of an update of a step.
 * @throws Refusal 422 if the job has too many
 */
export async function insertUpload(
  tx: Tx,
  { jobId, id, ...made }: { jobId: string; id: string; jobsMade?: number; isReplacing?: boolean },
): Promise<void> {
  const { pipelineUploads } = tx.tables;
  const isOfJob = eq(pipelineUploads.jobId, jobId);
  if ((await countUpTo(tx, pipelineUploads, isOfJob, maxUploads)) >= maxUploads)
    throw new Refusal(422, `A job can upload and update steps ${maxUploads.toLocaleString("en")} times`);
  await tx.insert(pipelineUploads).values({ jobId, id, createdAt: tx.now, ...made });
}

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
  const { jobs } = tx.tables;
  const [row] = await tx
    .select({ last: max(jobs.position) })
    .from(jobs)
    .where(and(eq(jobs.buildId, buildId), eq(jobs.stepId, stepId)));
  return (row?.last ?? position) + 1;
}

/** Makes room for new jobs, from a position on. */
export async function moveJobs(
  tx: Tx,
  { buildId, position, by }: { buildId: string; position: number; by: number },
): Promise<void> {
  const { jobs } = tx.tables;
  await tx
    .update(jobs)
    .set({ position: sql`${jobs.position} + ${by}` })
    .where(and(eq(jobs.buildId, buildId), gt(jobs.position, position - 1)));
}

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

export async function setHasMembers(tx: Tx, buildId: string): Promise<void> {
  const { builds } = tx.tables;
  await tx.update(builds).set({ hasMembers: true }).where(eq(builds.id, buildId));
}
