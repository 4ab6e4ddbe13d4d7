import { findJob } from "../../builds/rows/progress-store.ts";
import { minuteMs } from "../../durations.ts";
import { timeoutMinutes } from "../../pipelines/settings.ts";
import { maxTimeoutMinutes } from "../../pipelines/step/members.ts";
import { findTimeouts } from "../../pipelines/store.ts";
import { Refusal } from "../../refusal.ts";
import { type Attempt, changeWhileLeased } from "../lease.ts";
import type { LeaseBatches } from "../lease-batches.ts";
import { setTimesOutAtIfRunning } from "../lease-store.ts";

/** Beyond the time-out of its step, within the maximum of its pipeline. */
const maxExtensionMinutes = 60;

/**
 * Changes when a running job times out.
 * @param minutes counted from its start
 * @throws Refusal 404 of a stale lease, 422
 */
export async function changeTimeLimit(
  batches: LeaseBatches,
  attempt: Attempt,
  minutes: number,
): Promise<void> {
  await changeWhileLeased(batches, attempt, async (tx, build) => {
    const job = await findJob(tx, attempt.lease.jobId);
    if (job?.state !== "running" || !job.startedAt)
      throw new Refusal(422, "Only the timeout of a running job can be changed");
    const startedAt = job.startedAt.getTime();
    const present = job.timesOutAt && (job.timesOutAt.getTime() - startedAt) / minuteMs;
    const settings = await findTimeouts(tx, { pipelineId: build.pipelineId });
    const first = timeoutMinutes(settings, job.options?.timeout_in_minutes) ?? present;
    const limit = Math.min(
      first === null ? maxTimeoutMinutes : first + maxExtensionMinutes,
      settings.maximumTimeoutInMinutes ?? maxTimeoutMinutes,
    );
    if (minutes > limit) throw new Refusal(422, `The timeout can be ${limit} minutes at most`);
    await setTimesOutAtIfRunning(tx, attempt.lease, new Date(startedAt + minutes * minuteMs));
  });
}
