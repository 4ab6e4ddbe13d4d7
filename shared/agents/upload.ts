import { requireStorage } from "../accounts/storage.ts";
import { buildTopics } from "../builds/create.ts";
import { insertJobs, type Job } from "../builds/job-store.ts";
import { newJobs } from "../builds/new-jobs.ts";
import { settleBuild } from "../builds/progress.ts";
import { findJob, lockBuilds } from "../builds/progress-store.ts";
import { type Build, measureJobs } from "../builds/store.ts";
import type { Db, Tx } from "../db/database.ts";
import { resolveStepQueues, stepProblems } from "../pipelines/step-queues.ts";
import {
  countJobs,
  jobBytes,
  maxJobBytes,
  maxJobsOfBuild,
  type UploadedPipeline,
} from "../pipelines/steps.ts";
import type { Services } from "../process/services.ts";
import { findQueueById } from "../queues/store.ts";
import { exactSize, notFound, Refusal, unprocessable } from "../refusal.ts";
import type { Step } from "../vocabulary.ts";
import type { Lease } from "./lease-store.ts";
import {
  findPositionAfterStep,
  hasUpload,
  insertUpload,
  lockClusterOfJobs,
  moveJobs,
  replaceIfNotStarted,
} from "./upload-store.ts";

export interface PipelineUpload {
  /** The agent's own id. It sends the same id again after a lost answer. */
  id: string;
  pipeline: UploadedPipeline;
  /** First cancels the jobs of the build that have not started. */
  isReplacing: boolean;
}

/**
 * Adds steps to a build, directly after the step of the job that uploads them. The same upload again changes nothing.
 * @throws Refusal 422, 404 of a stale lease
 */
export async function uploadPipeline(
  services: Services,
  { build: { id: buildId }, lease }: { build: Build; lease: Lease },
  upload: PipelineUpload,
): Promise<void> {
  const { config, db, events, log } = services;
  const clusterId = await findClusterOfJob(db, lease.jobId);
  const uploaded = await db.transaction(async (tx) => {
    await lockClusterOfJobs(tx, clusterId);
    const [build] = await lockBuilds(tx, [buildId]);
    const job = await findJob(tx, lease.jobId);
    if (!build || !job || job.agentId !== lease.agentId || job.attempt !== lease.attempt)
      throw notFound("job");
    if (await hasUpload(tx, job.id, upload.id)) return undefined;
    if (job.state !== "running") throw new Refusal(422, "Only a running job can upload steps");

    await requireStorage(tx, config, build.organizationId);
    const replaced = upload.isReplacing ? await replaceIfNotStarted(tx, buildId) : [];
    const added = await addJobs(tx, { build, job, clusterId, steps: upload.pipeline.steps });
    await insertUpload(tx, job.id, upload.id);
    const scheduled = await settleBuild(tx, build, tx.now);
    return { build, replaced, added, changed: [...replaced, ...added, ...scheduled] };
  });
  if (!uploaded) return;
  const { build, replaced, added, changed } = uploaded;
  events.publish(buildTopics(build, changed));
  const counts = { added: added.length, replaced: replaced.length };
  log.info({ build: buildId, job: lease.jobId, ...counts }, "job uploaded steps");
}

async function findClusterOfJob(db: Db, jobId: string): Promise<string> {
  const job = await db.transaction((tx) => findJob(tx, jobId));
  const queue = job?.queueId ? await findQueueById(db, job.queueId) : undefined;
  if (!queue) throw notFound("job");
  return queue.clusterId;
}

/** @throws Refusal 422 */
async function addJobs(
  tx: Tx,
  { build, job, clusterId, steps }: { build: Build; job: Job; clusterId: string; steps: Step[] },
): Promise<Job[]> {
  const queueOf = await resolveStepQueues(tx, [{ clusterId, steps }]);
  const problems = stepProblems(clusterId, steps, queueOf);
  if (problems.length > 0) throw unprocessable(...problems);
  const present = await measureJobs(tx, [build.id]);
  const total = present.jobs + countJobs(steps);
  if (total > maxJobsOfBuild)
    throw new Refusal(422, `The build would have ${total} jobs (maximum is ${maxJobsOfBuild})`);
  if (present.bytes + jobBytes(steps) > maxJobBytes)
    throw new Refusal(422, `The steps of the build's jobs would be larger than ${exactSize(maxJobBytes)}`);

  const position = await findPositionAfterStep(tx, job);
  const insertion = { clusterId, position, isWaiting: false, createdAt: tx.now };
  const jobs = newJobs(build, steps, queueOf, insertion);
  await moveJobs(tx, { buildId: build.id, position, by: jobs.length });
  await insertJobs(tx, jobs);
  return jobs;
}

/** Undefined if the job uploaded nothing under this id. */
export async function findUploadState(db: Db, jobId: string, id: string): Promise<"applied" | undefined> {
  return (await hasUpload(db, jobId, id)) ? "applied" : undefined;
}
