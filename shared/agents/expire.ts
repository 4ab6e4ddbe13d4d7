import { settleBuild } from "../builds/progress/progress.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { putNewsOfChangedJobs } from "../builds/rows/job-news.ts";
import type { JobFacts } from "../builds/rows/job-store.ts";
import { findJob, lockBuildIfFree } from "../builds/rows/progress-store.ts";
import { restBetweenTransactions } from "../db/batches.ts";
import { DatabaseUnavailable, type Tx } from "../db/database.ts";
import { dayMs } from "../durations.ts";
import { lowestIdAt } from "../ids.ts";
import type { Services } from "../services/services.ts";
import { endByForce, report, takeJobBack } from "./lease.ts";
import {
  expireIfScheduled,
  findQueueWithWaitingJobs,
  listJobsOfferedBefore,
  listJobsPastEnd,
  listJobsPastTimeout,
  listJobsWaitingSince,
  timeOutIfRunning,
} from "./lease-store.ts";
import { freeUnaccepted } from "./store.ts";

const batchJobs = 100;

/** assigned → scheduled, for jobs that their agents did not accept in time. It is no restart: nothing ran. */
export async function takeBackOffers(services: Services): Promise<void> {
  const { db, clock, config, log } = services;
  const now = clock.now();
  const before = new Date(now.getTime() - config.jobOfferMs);
  for (const offered of await listJobsOfferedBefore(db, before, batchJobs))
    await changeJob(services, offered, async (tx, build) => {
      const job = await findJob(tx, offered.id);
      const { agentId, assignedAt } = offered;
      const isUnchanged = job?.agentId === agentId && job.assignedAt?.getTime() === assignedAt?.getTime();
      if (!isUnchanged || job.state !== "assigned" || job.acceptedAt !== null || agentId === null) return [];
      log.warn({ agentId, jobId: job.id }, "an agent did not accept the job that it was offered");
      await freeUnaccepted(tx, { id: agentId, jobId: job.id });
      return takeJobBack(tx, build, { job, maxRestarts: config.jobRestarts, now });
    });
}

/** running → timing_out, for jobs past the time-out of their step. Their agents stop them. */
export async function timeOutJobs(services: Services): Promise<void> {
  const now = services.clock.now();
  for (const job of await listJobsPastTimeout(services.db, now, batchJobs))
    await changeJob(services, job, async (tx) => listOf(await timeOutIfRunning(tx, job.id, now)));
}

/** canceling → canceled, for jobs canceled by force whose agents did not end them in time. */
export async function endForcedJobs(services: Services): Promise<void> {
  const now = services.clock.now();
  for (const job of await listJobsPastEnd(services.db, now, batchJobs))
    await changeJob(services, job, (tx, build) => endByForce(tx, build, job.id, now));
}

/** scheduled → expired, for jobs that no agent took in time. */
export async function expireJobs(services: Services): Promise<void> {
  const { db, clock, config } = services;
  const now = clock.now();
  const before = new Date(now.getTime() - config.jobExpiryDays * dayMs);
  const old = { before, lowestId: lowestIdAt(before), limit: batchJobs };
  const reason = `No agent took the job in ${config.jobExpiryDays} days`;
  let queueId = await findQueueWithWaitingJobs(db, undefined);
  while (queueId) {
    const jobs = await listJobsWaitingSince(db, queueId, old);
    let expiredAny = false;
    for (const job of jobs) {
      const isExpired = await changeJob(services, job, async (tx, build) => {
        const expired = await expireIfScheduled(tx, job.id, { before, now, reason });
        await putNewsOfChangedJobs(tx, build, listOf(expired));
        if (expired) await settleBuild(tx, build, now);
        return listOf(expired);
      });
      expiredAny ||= isExpired;
    }
    if (jobs.length < batchJobs || !expiredAny) queueId = await findQueueWithWaitingJobs(db, queueId);
    await restBetweenTransactions();
  }
}

/** Skips a locked build, and one that cannot be changed: it does not delay the others. The next run finds it again. */
async function changeJob(
  services: Services,
  { id, buildId }: JobFacts,
  change: (tx: Tx, build: Build) => Promise<JobFacts[]>,
): Promise<boolean> {
  const { db, log } = services;
  const work = db.transaction(async (tx) => {
    const build = await lockBuildIfFree(tx, { id: buildId });
    return build && { build, jobs: await change(tx, build) };
  });
  const changed = await work.catch((error) => {
    if (error instanceof DatabaseUnavailable) throw error;
    log.error({ err: error, jobId: id, buildId }, "a job could not be ended");
    return undefined;
  });
  if (changed) report(services, changed.build, changed.jobs);
  return changed !== undefined && changed.jobs.length > 0;
}

function listOf(job: JobFacts | undefined): JobFacts[] {
  return job ? [job] : [];
}
