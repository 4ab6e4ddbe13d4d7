import { settleBuild } from "../../builds/progress/progress.ts";
import { putNewsOfJobs } from "../../news/put.ts";
import { Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { type Attempt, changeWhileLeased, report } from "../lease.ts";
import type { LeaseBatches } from "../lease-batches.ts";
import { promiseIfRunning } from "../lease-store.ts";

/**
 * Stores the exit status with which a running job will fail. Its build counts that already (builds/progress/promises.ts). Of
 * several promises the last one holds.
 * @param exitStatus not 0
 * @throws Refusal 404 of a stale lease, 422 unless the job runs
 */
export async function promiseFailure(
  services: Services,
  batches: LeaseBatches,
  attempt: Attempt,
  { exitStatus, reason }: { exitStatus: number; reason: string | null },
): Promise<void> {
  const now = services.clock.now();
  const { lease } = attempt;
  const { build, changed } = await changeWhileLeased(batches, attempt, async (tx, build) => {
    const promised = await promiseIfRunning(tx, { ...lease, exitStatus, now });
    if (!promised) throw new Refusal(422, "Only a running job can promise a failure");
    await putNewsOfJobs(tx, [{ build, id: promised.id, event: "job.promised_exit_status" }]);
    return { build, changed: [promised, ...(await settleBuild(tx, build, now))] };
  });
  services.log.info({ jobId: lease.jobId, buildId: build.id, exitStatus, reason }, "a job promises to fail");
  report(services, build, changed);
}
