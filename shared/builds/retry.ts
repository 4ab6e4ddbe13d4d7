import { type Actor, audit } from "../accounts/audit.ts";
import type { Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { maxJobsOfBuild } from "../pipelines/steps.ts";
import type { Pipeline } from "../pipelines/store.ts";
import { findQueueById } from "../queues/store.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import type { JobState, RetryType } from "../vocabulary.ts";
import { auditSubject } from "./builds.ts";
import { buildTopics } from "./create.ts";
import { newScriptJob } from "./new-jobs.ts";
import { settleBuild } from "./progress.ts";
import {
  countJobsOfBuild,
  findJob,
  lockBuilds,
  markRetriedIfNot,
  reopenIfFinished,
  waitIfWaitingFailed,
} from "./progress-store.ts";
import type { Build, Job } from "./store.ts";

/** With retries. Answers about a build have all of its jobs. */
const maxJobsWithRetries = 2 * maxJobsOfBuild;

const retryable: JobState[] = ["failed", "timed_out", "canceled", "expired"];

/**
 * Makes a new job in the place of one that ended. The build goes on, and jobs that its failure stopped wait again.
 * @returns the new job
 * @throws Refusal 404, 422
 */
export async function retryJob(
  services: Services,
  actor: Actor,
  { build, pipeline }: { build: Build; pipeline: Pipeline },
  jobId: string,
): Promise<Job> {
  const now = services.clock.now();
  const retry = await services.db.transaction(async (tx) => {
    const [present] = await lockBuilds(tx, [build.id]);
    const job = await findJob(tx, jobId);
    if (!present || job?.buildId !== build.id || job.type !== "script") throw notFound("job");
    const refusal = await findRefusal(tx, present, job);
    if (refusal) throw new Refusal(422, `Job cannot be retried: ${refusal}`);
    const made = await insertRetry(tx, job, "manual", now);
    await waitIfWaitingFailed(tx, build.id, job.position);
    await reopenIfFinished(tx, build.id);
    await settleBuild(tx, present, now);
    await audit(tx, actor, "retried a job of", auditSubject(build, pipeline));
    return made;
  });
  services.events.publish(buildTopics(build, [retry]));
  return retry;
}

/** Returns true if a person may retry the job, as far as the job tells. */
export function mayBeRetried({ type, state, options, retriedInJobId }: Job): boolean {
  const manual = options?.retry?.manual;
  if (type !== "script" || retriedInJobId !== null || manual?.allowed === false) return false;
  return state === "passed" ? manual?.permit_on_passed !== false : retryable.includes(state);
}

async function findRefusal(tx: Tx, build: Build, { buildId, state, options, retriedInJobId, queueId }: Job) {
  const manual = options?.retry?.manual;
  if (retriedInJobId) return "it has been retried already";
  if (manual?.allowed === false) return manual.reason ?? "its step does not allow it";
  if (state === "passed" && manual?.permit_on_passed === false) return "it has passed";
  if (state !== "passed" && !retryable.includes(state)) return "it has not finished";
  if (build.state === "canceling") return "its build is being canceled";
  if ((await countJobsOfBuild(tx, buildId)) >= maxJobsWithRetries) return "its build has too many jobs";
  const queue = queueId === null ? undefined : await findQueueById(tx, queueId);
  return !queue || queue.deletedAt ? "its queue was deleted" : undefined;
}

/**
 * Retries a job that failed, if its step has a rule for its exit status.
 * @returns the new job
 */
export async function retryIfRuled(tx: Tx, job: Job, now: Date): Promise<Job | undefined> {
  const rule = job.options?.retry?.automatic?.find(
    ({ exit_status }) => exit_status === "*" || exit_status.includes(job.exitStatus ?? -1),
  );
  if (!rule || job.state !== "failed" || job.retriesCount >= rule.limit) return undefined;
  return insertRetry(tx, job, "automatic", now);
}

async function insertRetry(tx: Tx, job: Job, retryType: RetryType, now: Date): Promise<Job> {
  const { buildId, queueId, stepId, position, label, command, options } = job;
  const retry: Job = {
    ...newScriptJob({ id: newId(now), buildId, createdAt: now }),
    ...{ queueId, stepId, position, label, command, options },
    retryOfJobId: job.id,
    retryType,
    retriesCount: job.retriesCount + 1,
  };
  if (!(await markRetriedIfNot(tx, job.id, retry.id))) throw new Refusal(422, "Job was retried already");
  await tx.insertMany(tx.tables.jobs, [retry]);
  return retry;
}
