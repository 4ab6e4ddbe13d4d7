import { createBuilds } from "../../jobs/contracts.ts";
import type { Services } from "../../runtime/services.ts";
import { reclaimStranded } from "./store.ts";

/** A job that has not run after this long was probably lost. */
const strandedAfterMs = 10_000;
const idsPerJob = 500;
const jobsPerRun = 20;
/** With more jobs than this in the queue nothing is lost, only late: more of them would help nobody. */
const backlogJobs = 100;

/**
 * Send new jobs for deliveries that were accepted but not built: their job died with Redis, was never taken by
 * it, or failed too often. Each delivery is sent again at most once in ten seconds.
 * @returns how many were sent
 */
export async function requeueStranded({ db, clock, jobs, log }: Services): Promise<number> {
  const waiting = await jobs.countWaiting("deliveries");
  if (waiting === undefined || waiting > backlogJobs) return 0;

  const now = clock.now();
  const sentBefore = new Date(now.getTime() - strandedAfterMs);
  let total = 0;
  for (let run = 0; run < jobsPerRun; run++) {
    const deliveryIds = await db.transaction((tx) => reclaimStranded(tx, sentBefore, now, idsPerJob));
    if (deliveryIds.length > 0) await jobs.send(createBuilds, { deliveryIds });
    total += deliveryIds.length;
    if (deliveryIds.length < idsPerJob) break;
  }
  if (total > 0) log.warn({ deliveries: total }, "sent new jobs for deliveries that were waiting too long");
  return total;
}
