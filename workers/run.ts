import { DelayedError, type Job, UnrecoverableError, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { hourMs, secondMs } from "../shared/durations.ts";
import { type WorkQueue, workQueues } from "../shared/jobs/define.ts";
import { findUnfinished } from "../shared/process/unfinished.ts";
import { connectPatient } from "../shared/redis/connect.ts";
import { redisKeys } from "../shared/redis/keys.ts";
import type { Services } from "../shared/services/services.ts";
import { openWorkerJobs, type WorkerJob } from "./jobs.ts";
import { startMeasuring } from "./measure/measure.ts";

/** Jobs at once in one process. Each of "deliveries" carries up to 500 deliveries, and all share transactions. */
const concurrency: Record<WorkQueue, number> = {
  deliveries: 10,
  maintenance: 3,
  dispatch: 4,
  notifications: 1,
};
/** FLUSHALL deletes the schedules without notice. */
const rescheduleEveryMs = 10 * secondMs;
/** A job of a newer version waits for a worker that knows it, as long as an upgrade may take. */
const putBackForMs = 5 * secondMs;
const putBackUntilMs = hourMs;

export interface Workers {
  /** Ends within the configured deadline. Interrupted jobs run again elsewhere. */
  close(): Promise<void>;
}

/** Redis need not be there yet, and may go and come back. */
export async function startWorkers(
  services: Services,
  queues: readonly WorkQueue[] = workQueues,
): Promise<Workers> {
  const { config, log } = services;
  const redis = connectPatient(config.redisUrl);
  const { jobs, end: endJobs } = openWorkerJobs(services, queues);
  const workers = queues.map((queue) => openWorker(services, { queue, redis, jobs }));

  const contracts = jobs.map((job) => job.contract);
  const reschedule = () => services.jobs.schedule(queues, contracts);
  redis.on("ready", reschedule);
  const timer = setInterval(reschedule, rescheduleEveryMs);
  const stopMeasuring = config.metricsPort === undefined ? undefined : startMeasuring(services);

  return {
    async close() {
      clearInterval(timer);
      // Without Redis a graceful close never ends, and cannot be forced once begun.
      const isForced = redis.status !== "ready";
      const unfinished = await findUnfinished(config.shutdownMs, {
        ...endJobs(),
        "background jobs": Promise.allSettled(workers.map((worker) => worker.close(isForced))),
        ...(stopMeasuring && { measuring: stopMeasuring() }),
      });
      redis.disconnect();
      if (unfinished.length > 0)
        log.warn({ unfinished }, "stops in the middle of work, which others will do");
    },
  };
}

function openWorker(
  services: Services,
  { queue, redis, jobs }: { queue: WorkQueue; redis: Redis; jobs: WorkerJob[] },
): Worker {
  const { log, metrics, config } = services;
  const known = new Map(
    jobs
      .filter(({ contract }) => contract.queue === queue)
      .map(({ contract, run }) => [contract.name, run] as const),
  );

  const worker = new Worker(
    queue,
    (job, token) => runJob(services, { job, token, run: known.get(job.name) }),
    {
      connection: redis,
      prefix: redisKeys(config.redisPrefix).jobs,
      concurrency: concurrency[queue],
      skipVersionCheck: true,
    },
  );
  const count = (job: Job | undefined, outcome: string) =>
    metrics.jobs.inc({ job: job && known.has(job.name) ? job.name : "unknown", outcome });
  worker.on("completed", (job) => count(job, "completed"));
  worker.on("failed", (job) => count(job, "failed"));
  worker.on("error", (error) => log.debug({ err: error, queue }, "a worker waits for Redis"));
  return worker;
}

interface Run {
  job: Job;
  token: string | undefined;
  /** Undefined: another version sent the job. */
  run: WorkerJob["run"] | undefined;
}

async function runJob({ log, writeHealth }: Services, { job, token, run }: Run): Promise<void> {
  if (!run) return putBack(job, token);
  try {
    await run();
  } catch (error) {
    writeHealth.recordDamage(error);
    log.warn({ err: error, job: job.name, attempt: job.attemptsMade + 1 }, "a job failed");
    // Redis keeps this message, and a failed statement's message lists its values.
    throw new Error(`${job.name} failed: see the worker's log`);
  }
}

/** Leaves a job to a newer worker. One that no worker knows after an hour is a former version's. */
async function putBack(job: Job, token: string | undefined): Promise<never> {
  if (Date.now() > job.timestamp + putBackUntilMs)
    throw new UnrecoverableError(`no worker knows the job ${job.name}`);
  await job.moveToDelayed(Date.now() + putBackForMs, token);
  throw new DelayedError();
}
