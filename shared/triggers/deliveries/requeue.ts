import { minuteMs } from "../../durations.ts";
import { createBuildsJob } from "../../jobs/contracts.ts";
import type { Services } from "../../process/services.ts";
import { reclaimStranded, strandedAfterMs } from "./store.ts";

/** The clocks of machines differ by less, and workers defer deliveries by less. */
const clockToleranceMs = minuteMs;
const maxIdsPerJob = 500;
const maxJobsPerRun = 20;
/** Deliveries behind more jobs are late, not lost. */
const maxBacklogJobs = 20;

/**
 * Requeues each stranded delivery at most once in ten seconds.
 * @returns their number
 */
export async function requeueStranded({ db, clock, jobs, log, metrics }: Services): Promise<number> {
  const waiting = await jobs.countWaiting("deliveries");
  if (waiting === undefined || waiting > maxBacklogJobs) return 0;

  const now = clock.now();
  const sentTimes = [
    { before: new Date(now.getTime() - strandedAfterMs) },
    { after: new Date(now.getTime() + clockToleranceMs) },
  ];
  let total = 0;
  for (let run = 0; run < maxJobsPerRun && sentTimes[0]; run++) {
    const [sent] = sentTimes;
    const deliveryIds = await db.transaction((tx) => reclaimStranded(tx, sent, now, maxIdsPerJob));
    if (deliveryIds.length > 0) await jobs.send(createBuildsJob, { deliveryIds });
    total += deliveryIds.length;
    if (deliveryIds.length < maxIdsPerJob) sentTimes.shift();
  }
  metrics.deliveriesRequeued.inc(total);
  if (total > 0) log.warn({ deliveries: total }, "requeued stranded deliveries");
  return total;
}
