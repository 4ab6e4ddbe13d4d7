import { and, eq, gt, inArray, isNull, max, sql } from "drizzle-orm";
import { factColumns, type JobFacts } from "../builds/job-store.ts";
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

/** Keeps the id of an upload, or of an update of a step. @throws Refusal 422 if the job has too many */
export async function insertUpload(tx: Tx, jobId: string, id: string): Promise<void> {
  const { pipelineUploads } = tx.tables;
  const isOfJob = eq(pipelineUploads.jobId, jobId);
  if ((await countUpTo(tx, pipelineUploads, isOfJob, maxUploads)) >= maxUploads)
    throw new Refusal(422, `A job can upload and update steps ${maxUploads.toLocaleString("en")} times`);
  await tx.insert(pipelineUploads).values({ jobId, id, createdAt: tx.now });
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
