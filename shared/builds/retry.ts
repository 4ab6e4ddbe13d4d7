import { type Actor, audit } from "../accounts/audit.ts";
import type { Tx } from "../db/database.ts";
import { newIds } from "../ids.ts";
import type { BuildOfChangedJobs } from "../news/put.ts";
import { maxJobBytes, maxJobsOfBuild } from "../pipelines/steps.ts";
import type { PipelineFacts } from "../pipelines/store.ts";
import { findQueueById, listQueuesById } from "../queues/store.ts";
import { excerpt, notFound, Refusal } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { writes } from "../sharing/resources.ts";
import type { Failure, JobState, RetryType } from "../vocabulary.ts";
import { newScriptJob } from "./making/jobs.ts";
import { settleBuild } from "./progress/progress.ts";
import { isRetryRuled } from "./progress/retry-rules.ts";
import { auditSubject } from "./reading/require.ts";
import { reopenIfFinished } from "./rows/build-states-store.ts";
import { type Build, measureJobs } from "./rows/build-store.ts";
import { dueOfScheduled } from "./rows/due-of-jobs.ts";
import { hasWaitingBefore, putGraph, readGraph, reopenFailedWaits } from "./rows/graph-store.ts";
import { putNewsOfChangedJobs } from "./rows/job-news.ts";
import { insertJobs, type Job } from "./rows/job-store.ts";
import { findJob, listFailedJobs, lockBuilds, markRetriedIfNot } from "./rows/progress-store.ts";
import { findQueuesAgain, isQueueless } from "./rows/queue-again.ts";
import { buildTopics } from "./rows/topics.ts";
import { isCanceledWithStep } from "./triggered/pass-on-cancel.ts";

/** The most in a build with its retries: answers about a build have all of its jobs. */
const maxWithRetries = { jobs: 2 * maxJobsOfBuild, bytes: 2 * maxJobBytes };

const retryable: JobState[] = ["failed", "timed_out", "canceled", "expired"];

interface BuildOfPipeline {
  build: Build;
  pipeline: PipelineFacts;
}

/**
 * Makes a new job in the place of one that ended. The build goes on, and jobs that its failure stopped wait again.
 * @returns the new job
 * @throws Refusal 404, 422
 */
export async function retryJob(
  services: Services,
  actor: Actor,
  target: BuildOfPipeline,
  jobId: string,
): Promise<Job> {
  const [retry] = await retryJobs(services, actor, target, async (tx, build) => {
    const found = await findJob(tx, jobId);
    if (found?.buildId !== build.id || !isRetriedByHand(found)) throw notFound("job");
    const [job = found] = await findQueuesAgain(tx, target.pipeline.clusterId, [found]);
    const refusal = await findRefusal(tx, build, job);
    if (refusal) throw new Refusal(422, `Job cannot be retried: ${refusal}`);
    return [job];
  });
  return retry as Job;
}

/**
 * Retries jobs that failed, as far as their steps allow it and their queues exist.
 * @param failures default: the failures that let a build fail
 * @returns the number of jobs that it retried
 * @throws Refusal 404, 422
 */
export async function retryFailedJobs(
  services: Services,
  actor: Actor,
  target: BuildOfPipeline,
  failures?: readonly Failure[],
): Promise<number> {
  const retries = await retryJobs(services, actor, target, async (tx, build) => {
    if (build.state === "canceling")
      throw new Refusal(422, "Jobs cannot be retried: their build is being canceled");
    if (await isCanceledWithStep(tx, build))
      throw new Refusal(422, `Jobs cannot be retried: ${stepCanceled}`);
    const { clusterId } = target.pipeline;
    const failed = await findQueuesAgain(tx, clusterId, await listFailedJobs(tx, build.id, failures));
    const queues = await listQueuesById(
      tx,
      failed.flatMap(({ queueId }) => queueId ?? []),
    );
    const jobs = failed.filter(
      (job) =>
        mayBeRetried(job) &&
        (job.queueId === null ? !isQueueless(job) : queues.get(job.queueId)?.deletedAt === null),
    );
    if (!(await hasRoomForRetries(tx, jobs)))
      throw new Refusal(422, "Jobs cannot be retried: their build has too many jobs");
    return jobs;
  });
  return retries.length;
}

const stepCanceled = "the step that triggered its build was canceled";

/** Other jobs follow those before them. The retry of a trigger makes another build. */
function isRetriedByHand({ type }: Pick<Job, "type">): boolean {
  return type === "script" || type === "trigger";
}

/** @param choose the jobs, with the build locked */
async function retryJobs(
  { db, clock, events }: Services,
  actor: Actor,
  { build, pipeline }: BuildOfPipeline,
  choose: (tx: Tx, build: Build) => Promise<Job[]>,
): Promise<Job[]> {
  const now = clock.now();
  const retry = async (tx: Tx) => {
    const [present] = await lockBuilds(tx, [build.id]);
    if (!present) throw notFound("job");
    const chosen = await choose(tx, present);
    if (chosen.length === 0) return [];
    const made = await insertRetries(tx, present, chosen, { userId: actor.userId, now });
    await reopenFailedWaits(tx, build.id);
    await reopenIfFinished(tx, build.id);
    const hasGraph = present.hasGraph || (await storeGraphIfAhead(tx, present, chosen));
    await settleBuild(tx, { ...present, hasGraph }, now);
    await audit(
      tx,
      actor,
      chosen.length === 1 ? "retried a job of" : "retried jobs of",
      auditSubject(build, pipeline),
    );
    return made;
  };
  const retries = await writes.take(build.organizationId, () => db.transaction(retry));
  if (retries.length > 0) events.publish(buildTopics(build, retries));
  return retries;
}

/**
 * A job that was canceled while it waited runs ahead of the waits before it once it is retried. The build needs its graph
 * then: without one, its waits are decided once nothing runs.
 * @returns true if it has one now
 */
async function storeGraphIfAhead(tx: Tx, build: Build, retried: Job[]): Promise<boolean> {
  if (retried.every(({ state }) => state !== "canceled")) return false;
  const { id } = build;
  const isAhead = await hasWaitingBefore(tx, id, Math.max(...retried.map(({ position }) => position)));
  if (isAhead) await putGraph(tx, build, await readGraph(tx, id));
  return isAhead;
}

/** Returns true if a person may retry the job, as far as the job tells. */
export function mayBeRetried({ type, state, options, retriedInJobId }: Job): boolean {
  const manual = options?.retry?.manual;
  if (!isRetriedByHand({ type }) || retriedInJobId !== null || manual?.allowed === false) return false;
  return state === "passed" ? manual?.permit_on_passed === true : retryable.includes(state);
}

async function findRefusal(tx: Tx, build: Build, job: Job) {
  const { state, options, retriedInJobId, queueId } = job;
  const manual = options?.retry?.manual;
  if (retriedInJobId) return "it has been retried already";
  if (manual?.allowed === false) return manual.reason ?? "its step does not allow it";
  if (state === "passed" && manual?.permit_on_passed !== true) return "it has passed";
  if (state !== "passed" && !retryable.includes(state)) return "it has not finished";
  if (build.state === "canceling") return "its build is being canceled";
  if (await isCanceledWithStep(tx, build)) return stepCanceled;
  if (!(await hasRoomForRetries(tx, [job]))) return "its build has too many jobs";
  if (isQueueless(job))
    return options?.queue
      ? `its cluster has no queue ${excerpt(options.queue)}`
      : "its cluster has no default queue";
  if (queueId === null) return undefined;
  const queue = await findQueueById(tx, queueId);
  return !queue || queue.deletedAt ? "its queue was deleted" : undefined;
}

/** Returns true if the build of these jobs has room for their retries. */
async function hasRoomForRetries(tx: Tx, retried: Job[]): Promise<boolean> {
  const present = await measureJobs(tx, [...new Set(retried.map(({ buildId }) => buildId))]);
  const bytes = retried.reduce(
    (sum, { label, command, options }) =>
      sum + Buffer.byteLength(JSON.stringify({ label, command, options })),
    present.bytes,
  );
  return present.jobs + retried.length <= maxWithRetries.jobs && bytes <= maxWithRetries.bytes;
}

/**
 * Retries a job that failed or timed out, if its step has a rule for it and its build has room.
 * @returns the new job
 */
export async function retryIfRuled(
  tx: Tx,
  build: BuildOfChangedJobs,
  job: Job,
  now: Date,
): Promise<Job | undefined> {
  if (!(await isRetryRuled(tx, job)) || !(await hasRoomForRetries(tx, [job]))) return undefined;
  const [retry] = await insertRetries(tx, build, [job], { userId: null, now });
  return retry;
}

/** Call with the build locked. @param userId null: rules of their steps retry them */
async function insertRetries(
  tx: Tx,
  build: BuildOfChangedJobs,
  jobs: Job[],
  { userId, now }: { userId: string | null; now: Date },
): Promise<Job[]> {
  const retryType: RetryType = userId === null ? "automatic" : "manual";
  const ids = newIds(now, jobs.length);
  const retries = jobs.map((job, index): Job => {
    return {
      ...newScriptJob({ id: ids[index] as string, buildId: job.buildId, createdAt: now }),
      type: job.type,
      queueId: job.queueId,
      stepId: job.stepId,
      position: job.position,
      label: job.label,
      command: job.command,
      options: job.options,
      priority: job.priority,
      agentRules: job.agentRules,
      arrivedAt: job.arrivedAt,
      retryOfJobId: job.id,
      retryType,
      retriesCount: job.retriesCount + 1,
    };
  });
  await insertJobs(tx, retries);
  await dueOfScheduled(tx, retries);
  await putNewsOfChangedJobs(tx, build, retries);
  const marked = await markRetriedIfNot(tx, jobs, userId);
  if (marked < jobs.length) throw new Refusal(422, "Job was retried already");
  return retries;
}
