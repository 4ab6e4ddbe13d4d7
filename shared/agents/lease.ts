import { deleteOldJobTokens, insertJobToken } from "../builds/meta-data/meta-data-store.ts";
import { settleBuild } from "../builds/progress/progress.ts";
import { isSoftFailure } from "../builds/progress/promises.ts";
import { retryIfRuled } from "../builds/retry.ts";
import { startWorkIfIdle } from "../builds/rows/build-states-store.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { putNewsOfChangedJobs } from "../builds/rows/job-news.ts";
import { completeJob, type Job, type JobFacts, type JobRow } from "../builds/rows/job-store.ts";
import { refreshPausesOf } from "../builds/rows/pause-store.ts";
import { findJob } from "../builds/rows/progress-store.ts";
import { buildTopics } from "../builds/rows/topics.ts";
import { hashToken, issueToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { lockQueueIfDispatching } from "../dispatch/store.ts";
import { dayMs, minuteMs, secondsBetween } from "../durations.ts";
import { timeoutMinutes } from "../pipelines/settings.ts";
import { findTimeouts } from "../pipelines/store.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { leasedJobStates, type SignalReason } from "../vocabulary.ts";
import { readCheckoutKey } from "./checkout/key.ts";
import { findIncompatibility } from "./incompatible.ts";
import type { LeaseBatches } from "./lease-batches.ts";
import {
  acceptIfAssigned,
  assignIfIn,
  type Ending,
  endIfForced,
  endIfLeased,
  type Lease,
  requeueIfLeased,
  setSoftFailed,
  setStartedIfCanceling,
  setTimesOutAt,
  startIfAccepted,
} from "./lease-store.ts";
import { closeLog } from "./logs/evict.ts";
import { type Agent, freeIfFinished, freeIfHas, reserveIfFree } from "./store.ts";

/** Job tokens end with their attempt, or after this time if nothing ends it. */
const jobTokenMs = 90 * dayMs;
/** An agent repeats an accept when its answer is lost. */
const maxTokensOfAttempt = 10;

/** An agent's attempt at a job. Its members never change; only the attempt ends. */
export interface Attempt {
  lease: Lease;
  buildId: string;
  organizationId: string;
}

/** The attempt of a lease at a job of the build. */
export function attemptOf(
  { id, organizationId }: Pick<Build, "id" | "organizationId">,
  lease: Lease,
): Attempt {
  return { lease, buildId: id, organizationId };
}

/** The result of a command, as its agent saw it. */
export interface Result {
  /** -1: it never ran, or a signal ended it. */
  exitStatus: number;
  signal: string | null;
  signalReason: string | null;
  /** The agent takes no further job. */
  isLast: boolean;
}

/** The result of a job whose agent is gone. */
const neverReported = { exitStatus: -1, signal: null, signalReason: null };

export interface Accepted {
  job: Job;
  build: Build;
  token: string;
  /** The value of the secret that its checkout names. */
  sshKey?: string;
}

/**
 * assigned → accepted, in a new attempt. An agent that repeats its accept gets another token of the same attempt.
 * @throws Refusal 404 if the agent does not have the job, 422 if it cannot be accepted any more, or failed because the
 * agent is too old for it or the SSH key of its checkout cannot be read
 */
export async function acceptJob(
  services: Services,
  batches: LeaseBatches,
  agent: Agent,
  { id, buildId }: Pick<Job, "id" | "buildId">,
): Promise<Accepted> {
  const now = services.clock.now();
  const { organizationId } = agent;
  const outcome = await batches({ buildId, organizationId }, async (tx, build) => {
    const accepted = await acceptIfAssigned(tx, { jobId: id, agentId: agent.id, now });
    const job = accepted ? await completeJob(tx, accepted) : await requireAcceptedJob(tx, agent, id);
    const problem = findIncompatibility(job, agent);
    if (problem !== undefined)
      return { build, problem, changed: await failUnstarted(tx, build, { job, problem, now }) };
    if (!accepted)
      await deleteOldJobTokens(tx, { jobId: id, attempt: job.attempt, kept: maxTokensOfAttempt - 1 });
    const isFirst = accepted?.attempt === 1;
    return { isFirst, job, build, token: await issueJobToken(tx, job, now) };
  });
  if (outcome.changed !== undefined) {
    report(services, outcome.build, outcome.changed);
    throw new Refusal(422, `The job has failed. ${outcome.problem}`);
  }
  const { isFirst, ...accepted } = outcome;
  const { scheduledAt } = accepted.job;
  if (isFirst && scheduledAt) services.metrics.jobWaitSeconds.observe(secondsBetween(scheduledAt, now));
  traceJob(services, "job offered", accepted);
  report(services, accepted.build, [accepted.job]);
  return { ...accepted, ...(await requireCheckoutKey(services, batches, accepted)) };
}

/** @throws Refusal 422 if the job cannot have the key: it has failed then */
async function requireCheckoutKey(
  services: Services,
  batches: LeaseBatches,
  { job, build }: Accepted,
): Promise<{ sshKey?: string }> {
  const read = await readCheckoutKey(services, { job, build });
  if (!("problem" in read)) return read;
  const failure = { job, problem: read.problem, reason: "stack_error", now: services.clock.now() } as const;
  const place = { buildId: build.id, organizationId: build.organizationId };
  report(services, build, await batches(place, (tx, build) => failUnstarted(tx, build, failure)));
  throw new Refusal(422, `The job has failed. ${read.problem}`);
}

/** Fails a job that cannot run. @returns the jobs that changed */
async function failUnstarted(
  tx: Tx,
  build: Build,
  failure: { job: Job; problem: string; reason?: SignalReason; now: Date },
): Promise<JobFacts[]> {
  const { job, problem, reason = "agent_incompatible", now } = failure;
  const lease = leaseOf(job);
  const ending = endingOf({ ...neverReported, signalReason: reason });
  const ended = await endIfLeased(tx, { ...lease, ...ending, failureReason: problem, now });
  if (!ended) return [];
  await freeIfHas(tx, { id: lease.agentId, jobId: job.id }); // it ran nothing, so a retry does not prefer it
  return settleEnded(tx, build, ended, now);
}

/**
 * scheduled, reserved → accepted, for an agent that asks for this job. What was reserved before a pause carries on.
 * @throws Refusal 404, 422 if it cannot be acquired, 423 while it waits or its queue is paused
 */
export async function acquireJob(
  services: Services,
  batches: LeaseBatches,
  agent: Agent,
  { id, buildId, queueId }: Pick<Job, "id" | "buildId" | "queueId">,
): Promise<Accepted> {
  const now = services.clock.now();
  if (queueId === null) throw new Refusal(422, "A wait has nothing to run");
  await services.db.transaction(async (tx) => {
    const isDispatching = await lockQueueIfDispatching(tx, { id: queueId });
    const job = await findJob(tx, id);
    if (!job) throw notFound("job");
    if (job.agentId === agent.id && job.state === "assigned") return;
    if (job.state === "waiting") throw new Refusal(423, "The job waits for other jobs of its build");
    if (job.state === "limited") throw new Refusal(423, "The job waits for its concurrency group");
    if (job.state !== "scheduled" && job.state !== "reserved") throw taken();
    if (job.state === "scheduled" && !isDispatching) throw new Refusal(423, "The job's queue is paused");
    if (!(await reserveIfFree(tx, { id: agent.id, jobId: id, formerJobId: agent.jobId, now })))
      throw new Refusal(422, "The agent has a job, or may take none");
    // A reservation may end meanwhile.
    const states = isDispatching ? (["scheduled", "reserved"] as const) : (["reserved"] as const);
    if (!(await assignIfIn(tx, { states: [...states], id, agentId: agent.id, now }))) throw taken();
  });
  return acceptJob(services, batches, agent, { id, buildId });
}

function taken(): Refusal {
  return new Refusal(422, "The job has been taken, or has finished");
}

/** A job that the agent accepted, and did not start. @throws Refusal 404, 422 */
async function requireAcceptedJob(tx: Tx, agent: Agent, jobId: string): Promise<Job> {
  const job = await requireOwnJob(tx, agent, jobId);
  if (job.acceptedAt === null || job.startedAt !== null)
    throw new Refusal(422, "The job cannot be accepted any more");
  return job;
}

async function requireOwnJob(tx: Tx, agent: Pick<Agent, "id">, jobId: string): Promise<Job> {
  const job = await findJob(tx, jobId);
  if (!job || job.agentId !== agent.id || !leasedJobStates.includes(job.state)) throw notFound("job");
  return job;
}

async function issueJobToken(tx: Tx, { id, attempt }: JobFacts, now: Date): Promise<string> {
  const token = issueToken("job");
  await insertJobToken(tx, {
    tokenHash: hashToken(token),
    jobId: id,
    attempt,
    readOnly: false,
    createdAt: now,
    expiresAt: new Date(now.getTime() + jobTokenMs),
  });
  return token;
}

/**
 * assigned → running. A job that is being canceled stays so: its agent hears of it next.
 * @throws Refusal 404 of a stale lease
 */
export async function startJob(
  services: Services,
  batches: LeaseBatches,
  { lease, ...key }: Attempt,
): Promise<void> {
  const now = services.clock.now();
  const { build, job } = await batches(key, async (tx, build) => {
    const started = await startIfAccepted(tx, { ...lease, now });
    if (!started) {
      const job = await requireLeasedJob(tx, lease);
      await setStartedIfCanceling(tx, { ...lease, now });
      return { build, job };
    }
    const job = await completeJob(tx, started);
    const minutes = timeoutMinutes(
      await findTimeouts(tx, { pipelineId: build.pipelineId }),
      job.options?.timeout_in_minutes,
    );
    if (minutes !== undefined)
      await setTimesOutAt(tx, { id: job.id, timesOutAt: new Date(now.getTime() + minutes * minuteMs) });
    await startWorkIfIdle(tx, build, now);
    await putNewsOfChangedJobs(tx, build, [job]);
    return { build, job };
  });
  report(services, build, [job]);
}

async function requireLeasedJob(tx: Tx, { jobId, agentId, attempt }: Lease): Promise<Job> {
  const job = await requireOwnJob(tx, { id: agentId }, jobId);
  if (job.attempt !== attempt || job.acceptedAt === null) throw notFound("job");
  return job;
}

/**
 * Changes a build for a job that an agent has.
 * @throws Refusal 404 of a stale lease
 */
export function changeWhileLeased<Result>(
  batches: LeaseBatches,
  { lease, ...key }: Attempt,
  change: (tx: Tx, build: Build) => Promise<Result>,
): Promise<Result> {
  return batches(key, async (tx, build) => {
    await requireLeasedJob(tx, lease);
    return change(tx, build);
  });
}

/**
 * Ends an attempt by the result of its command. A repeated call changes nothing.
 * @throws Refusal 404 of a stale lease
 */
export async function finishJob(
  services: Services,
  batches: LeaseBatches,
  { lease, result, ...key }: Attempt & { result: Result },
): Promise<void> {
  const now = services.clock.now();
  const { build, changed } = await batches(key, async (tx, build) => {
    const ended = await endIfLeased(tx, { ...lease, ...endingOf(result), now });
    if (!ended) {
      await requireFinished(tx, lease);
      return { build, changed: [] };
    }
    await freeIfFinished(tx, { id: lease.agentId, jobId: lease.jobId, isLast: result.isLast, now });
    return { build, changed: await settleEnded(tx, build, ended, now) };
  });
  report(services, build, changed);
  const [ended] = changed;
  if (ended) traceJob(services, "job finished", { build, job: ended });
}

/** Repeated accepts have the same ids. Builds without a delivery have traces of their own. */
function traceJob(
  { tracing }: Services,
  name: "job offered" | "job finished",
  { build, job }: { build: Build; job: JobFacts },
): void {
  const subject = `${job.id} ${job.attempt}`;
  const isOffer = name === "job offered";
  const start = isOffer ? job.scheduledAt : job.acceptedAt;
  const end = isOffer ? job.acceptedAt : job.finishedAt;
  const attributes = { job: job.id, attempt: job.attempt, state: job.state };
  const ofBuild = { name: "build", subject: build.id } as const;
  const isOfDelivery = build.deliveryId !== null && build.rebuild === 0; // other builds have no such span
  const above = isOffer ? isOfDelivery && ofBuild : ({ name: "job offered", subject } as const);
  if (start && end)
    tracing?.record({
      name,
      traceId: build.deliveryId ?? build.id,
      subject,
      ...(above && { parent: above }),
      start,
      end,
      attributes,
    });
}

/** Call after the commit that changed these jobs. */
export function report({ events, log }: Services, build: Build, jobs: JobFacts[]): void {
  for (const { id: jobId, state, agentId, attempt, exitStatus } of jobs)
    log.info({ jobId, buildId: build.id, state, agentId, attempt, exitStatus }, "a job changed");
  if (jobs.length > 0) events.publish(buildTopics(build, jobs));
}

/** @throws Refusal 404 unless the agent ended the attempt */
async function requireFinished(tx: Tx, lease: Lease): Promise<void> {
  const job = await findJob(tx, lease.jobId);
  if (!job || !isFinished(job, lease)) throw notFound("job");
}

/** Returns true if the agent ended the attempt, or it was canceled. With another failure reason, the server ended it. */
function isFinished({ agentId, attempt, acceptedAt, state, failureReason }: JobFacts, lease: Lease): boolean {
  const isOfLease = agentId === lease.agentId && attempt === lease.attempt && acceptedAt !== null;
  // Of a canceled job, the reason may say who canceled it.
  const isOfAgent = failureReason === null || state === "canceled";
  return isOfLease && isOfAgent && !leasedJobStates.includes(state);
}

export function endingOf({ exitStatus, signal, signalReason }: Omit<Result, "isLast">): Ending {
  const state = exitStatus === 0 ? "passed" : "failed";
  return { state, exitStatus, signal, signalReason, failureReason: null };
}

/** Call it after the statement that ended the attempt. @returns the jobs that changed */
export async function settleEnded(tx: Tx, build: Build, row: JobRow, now: Date): Promise<JobFacts[]> {
  const ended = await completeJob(tx, row);
  if (isSoftFailure(ended)) {
    await setSoftFailed(tx, ended.id);
    ended.softFailed = true;
  }
  await closeLog(tx, { jobId: ended.id, attempt: ended.attempt });
  await putNewsOfChangedJobs(tx, build, [ended]);
  const retry = build.state === "canceling" ? undefined : await retryIfRuled(tx, build, ended, now);
  const scheduled = await settleBuild(tx, build, now);
  return [ended, ...(retry ? [retry] : []), ...scheduled];
}

/**
 * Cancels a job by force, whatever its agent does, once the time for that has come. The agent is free.
 * @returns the jobs that changed
 */
export async function endByForce(tx: Tx, build: Build, jobId: string, now: Date): Promise<JobFacts[]> {
  const reason = "It was canceled by force: its agent had not ended it";
  const ended = await endIfForced(tx, { id: jobId, reason, now });
  if (!ended) return [];
  if (ended.agentId) await freeIfFinished(tx, { id: ended.agentId, jobId, isLast: false, now });
  return settleEnded(tx, build, ended, now);
}

/** The present lease of a job that an agent has. */
export function leaseOf({ id, agentId, attempt }: JobFacts): Lease {
  if (agentId === null) throw new Error(`Job ${id} has no agent.`);
  return { jobId: id, agentId, attempt };
}

/**
 * Takes a job from an agent that is gone. It returns to its queue at most `maxRestarts` times; then it fails. A job that
 * its agent had not accepted returns always.
 * @returns the jobs that changed
 */
export async function takeJobBack(
  tx: Tx,
  build: Build,
  { job, maxRestarts, now }: { job: Job; maxRestarts: number; now: Date },
): Promise<JobFacts[]> {
  const lease = leaseOf(job);
  const isStopping = job.state === "canceling" || job.state === "timing_out";
  const mayRestart = job.acceptedAt === null || job.attempt <= maxRestarts;
  if (!isStopping && mayRestart) {
    const requeued = await requeueIfLeased(tx, lease);
    if (!requeued) return [];
    await refreshPausesOf(tx, [requeued]);
    await putNewsOfChangedJobs(tx, build, [requeued]);
    await closeLog(tx, { jobId: job.id, attempt: job.attempt });
    const hadStarted = job.startedAt !== null; // the next attempt has neither run nor promised anything
    return [requeued, ...(hadStarted ? await settleBuild(tx, build, now) : [])];
  }
  const failureReason = isStopping
    ? "The agent was lost before it said that the job had ended"
    : `The agent was lost ${job.attempt} times`;
  const ended = await endIfLeased(tx, { ...lease, ...endingOf(neverReported), failureReason, now });
  return ended ? settleEnded(tx, build, ended, now) : [];
}
