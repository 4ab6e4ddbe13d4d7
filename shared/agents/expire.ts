import type { JobFacts } from "../builds/job-store.ts";
import { settleBuild } from "../builds/progress.ts";
import { lockBuildIfFree } from "../builds/progress-store.ts";
import type { Build } from "../builds/store.ts";
import { restBetweenTransactions } from "../db/batches.ts";
import type { Tx } from "../db/database.ts";
import { dayMs } from "../durations.ts";
import { lowestIdAt } from "../ids.ts";
import type { Services } from "../process/services.ts";
import { report } from "./lease.ts";
import {
  expireIfScheduled,
  findQueueWithWaitingJobs,
  listJobsPastTimeout,
  listJobsWaitingSince,
  timeOutIfRunning,
} from "./lease-store.ts";

const batchJobs = 100;

/** running → timing_out, for jobs past the time-out of their step. Their agents stop them. */
export async function timeOutJobs(services: Services): Promise<void> {
  const now = services.clock.now();
  for (const job of await listJobsPastTimeout(services.db, now, batchJobs))
    await changeJob(services, job, (tx) => timeOutIfRunning(tx, job.id, now));
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
        if (expired) await settleBuild(tx, build, now);
        return expired;
      });
      expiredAny ||= isExpired;
    }
    if (jobs.length < batchJobs || !expiredAny) queueId = await findQueueWithWaitingJobs(db, queueId);
    await restBetweenTransactions();
  }
}

/** Skips a locked build, so that it does not delay the others. The next run finds it again. */
async function changeJob(
  services: Services,
  { buildId }: JobFacts,
  change: (tx: Tx, build: Build) => Promise<JobFacts | undefined>,
): Promise<boolean> {
  const changed = await services.db.transaction(async (tx) => {
    const build = await lockBuildIfFree(tx, { id: buildId });
    const job = build && (await change(tx, build));
    return job && { build, job };
  });
  if (changed) report(services, changed.build, [changed.job]);
  return changed !== undefined;
}
