import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "bullmq";
import { type WorkQueue, workQueues } from "../shared/jobs/define.ts";
import { connectPatient } from "../shared/redis/connect.ts";
import { redisKeys } from "../shared/redis/keys.ts";
import type { Services } from "../shared/runtime/services.ts";
import type { WorkerJob } from "./job.ts";
import { createBuildsJob } from "./jobs/create-builds.ts";
import { evictPayloadsJob } from "./jobs/evict-payloads.ts";
import { expireDeviceCodesJob } from "./jobs/expire-device-codes.ts";
import { fanOutDispatchPauseJob } from "./jobs/fan-out-dispatch-pause.ts";
import { purgeExpiredJob } from "./jobs/purge-expired.ts";
import { recordUsageJob } from "./jobs/record-usage.ts";
import { requeueDispatchPausesJob } from "./jobs/requeue-dispatch-pauses.ts";
import { requeueStrandedDeliveriesJob } from "./jobs/requeue-stranded-deliveries.ts";

/** All work that workers do. */
export const workerJobs: WorkerJob[] = [
  createBuildsJob,
  requeueStrandedDeliveriesJob,
  evictPayloadsJob,
  expireDeviceCodesJob,
  recordUsageJob,
  fanOutDispatchPauseJob,
  requeueDispatchPausesJob,
  purgeExpiredJob,
];

/** Jobs that one process runs at a time. Those that build share transactions, so many at once are welcome. */
const concurrency: Record<WorkQueue, number> = { deliveries: 50, maintenance: 3, dispatch: 4 };
/** FLUSHALL takes the schedules with it, and nothing tells us. */
const rescheduleEveryMs = 10_000;

export interface Workers {
  /** Finish the jobs in hand within the configured deadline; what is cut off runs again elsewhere. */
  close(): Promise<void>;
}

/** Work on these queues until closed. Redis need not be there yet, and may go and come back. */
export async function startWorkers(
  services: Services,
  queues: readonly WorkQueue[] = workQueues,
): Promise<Workers> {
  const { config, jobs } = services;
  const redis = connectPatient(config.redisUrl);
  const workers = queues.map((queue) => openWorker(services, queue, redis));

  const contracts = workerJobs
    .map((job) => job.contract)
    .filter((contract) => queues.includes(contract.queue));
  const reschedule = () => jobs.schedule(contracts);
  redis.on("ready", reschedule);
  const timer = setInterval(reschedule, rescheduleEveryMs);

  return {
    async close() {
      clearInterval(timer);
      // Without Redis a graceful close never ends, and once begun it cannot be forced any more.
      const isForced = redis.status !== "ready";
      const closed = Promise.allSettled(workers.map((worker) => worker.close(isForced)));
      await Promise.race([closed, sleep(config.shutdownMs, undefined, { ref: false })]);
      redis.disconnect();
    },
  };
}

function openWorker(services: Services, queue: WorkQueue, redis: ReturnType<typeof connectPatient>): Worker {
  const { log, metrics, config } = services;
  const runOf = new Map(
    workerJobs
      .filter((job) => job.contract.queue === queue)
      .map((job) => [job.contract.name, job.start(services)] as const),
  );

  const worker = new Worker(
    queue,
    async (job) => {
      const run = runOf.get(job.name);
      if (!run) throw new Error(`No worker knows the job ${job.name}.`);
      try {
        await run(job.data);
      } catch (error) {
        log.warn({ err: error, job: job.name, attempt: job.attemptsMade + 1 }, "a job failed");
        // Redis keeps what is thrown here, and a failed statement's message lists its values: not for Redis.
        throw new Error(`${job.name} failed: see the worker's log`);
      }
    },
    {
      connection: redis,
      prefix: redisKeys(config.redisPrefix).jobs,
      concurrency: concurrency[queue],
      skipVersionCheck: true,
    },
  );
  worker.on("completed", (job) => metrics.jobs.inc({ job: job.name, outcome: "completed" }));
  worker.on("failed", (job) => metrics.jobs.inc({ job: job?.name ?? "unknown", outcome: "failed" }));
  worker.on("error", (error) => log.debug({ err: error, queue }, "a worker waits for Redis"));
  return worker;
}
