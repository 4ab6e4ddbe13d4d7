import { secondMs } from "../../durations.ts";
import { createBuilds } from "../../jobs/contracts.ts";
import type { Services } from "../../runtime/services.ts";
import { reclaimStranded } from "./store.ts";

/** A delivery that waits longer is stranded: its background job was probably lost. */
const strandedAfterMs = 10 * secondMs;
const maxIdsPerJob = 500;
const maxJobsPerRun = 20;
/** With a longer work queue, deliveries are late and not lost: more jobs would not help. */
const maxBacklogJobs = 100;

/**
 * Sends new background jobs for stranded deliveries. Redis lost or never got their job, or it failed too often.
 * Requeues a delivery at most once in ten seconds.
 * @returns the number of deliveries
 */
export async function requeueStranded({ db, clock, jobs, log }: Services): Promise<number> {
  const waiting = await jobs.countWaiting("deliveries");
  if (waiting === undefined || waiting > maxBacklogJobs) return 0;

  const now = clock.now();
  const sentBefore = new Date(now.getTime() - strandedAfterMs);
  let total = 0;
  for (let run = 0; run < maxJobsPerRun; run++) {
    const deliveryIds = await db.transaction((tx) => reclaimStranded(tx, sentBefore, now, maxIdsPerJob));
    if (deliveryIds.length > 0) await jobs.send(createBuilds, { deliveryIds });
    total += deliveryIds.length;
    if (deliveryIds.length < maxIdsPerJob) break;
  }
  if (total > 0) log.warn({ deliveries: total }, "requeued stranded deliveries");
  return total;
}
