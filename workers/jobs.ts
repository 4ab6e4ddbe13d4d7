import { recordUsage } from "../shared/accounts/access-tokens.ts";
import { endForcedJobs, expireJobs, takeBackOffers, timeOutJobs } from "../shared/agents/expire.ts";
import { evictLogs } from "../shared/agents/logs/evict.ts";
import { loseUnseenAgents } from "../shared/agents/lost.ts";
import { loseSilentStacks, releaseExpired, releaseOfStack } from "../shared/agents/stacks/release.ts";
import { checkArtifact } from "../shared/artifacts/check.ts";
import { evictArtifacts } from "../shared/artifacts/evict.ts";
import { failForgottenArtifacts } from "../shared/artifacts/fail.ts";
import { removeUnnamedBlobs } from "../shared/artifacts/remove-unnamed.ts";
import { tasksOfBuilds } from "../shared/builds/task-handlers.ts";
import { expireDeviceCodes } from "../shared/device/expire.ts";
import { fanOutPause } from "../shared/dispatch/fan-out.ts";
import { secondMs } from "../shared/durations.ts";
import * as contracts from "../shared/jobs/contracts.ts";
import { type JobContract, type WorkQueue, workQueues } from "../shared/jobs/define.ts";
import { openOutbox } from "../shared/outbox/outbox.ts";
import { wakeMessages } from "../shared/outbox/wake.ts";
import { followProviders, followProvidersOfAll } from "../shared/pipelines/provider/follow.ts";
import { countStoredBytes } from "../shared/retention/organizations.ts";
import { recountRecords } from "../shared/retention/records.ts";
import { openDueSchedules } from "../shared/schedules/due.ts";
import { openClockGuard } from "../shared/services/clock-guard.ts";
import type { Services } from "../shared/services/services.ts";
import { openTasks, type TaskHandlers } from "../shared/tasks/runner.ts";
import { rebuildNext } from "../shared/triggers/bulk-rebuilds/run.ts";
import { openDueDeliveries } from "../shared/triggers/deliveries/due.ts";
import { evictPayloads } from "../shared/triggers/payloads/payloads.ts";
import { fillWords } from "../shared/words/fill.ts";
import { messageKinds } from "./message-kinds.ts";
import { purgeExpired } from "./purge-expired.ts";
import { rollUpFigures } from "./roll-up-figures.ts";

/** Without Redis nobody wakes workers. */
const lookEveryMs = secondMs;

export interface WorkerJob {
  contract: JobContract;
  run: () => Promise<void>;
}

export interface WorkerJobs {
  jobs: WorkerJob[];
  /** Begins to end what runs, by its name. */
  end: () => Record<string, Promise<void>>;
  close: () => Promise<void>;
}

export const taskHandlers: TaskHandlers = {
  ...tasksOfBuilds,
  stack: releaseOfStack,
  pause: fanOutPause,
  bulk_rebuild: rebuildNext,
  artifact: checkArtifact,
  providers: followProviders,
  wake: wakeMessages,
};

export function openWorkerJobs(services: Services, queues: readonly WorkQueue[] = workQueues): WorkerJobs {
  const deliveries = openDueDeliveries(services);
  const clockGuard = openClockGuard(services);
  const schedules = openDueSchedules(services, () => clockGuard.isRight());
  const tasks = openTasks(services, taskHandlers);
  // It sends what transactions of its process make due, too: builds must not wait for that.
  const outbox = queues.includes("notifications") ? openOutbox(services, messageKinds) : undefined;
  const jobs = [
    job(contracts.sendNewsJob, async () => outbox?.wake()),
    job(contracts.createScheduledBuildsJob, async () => schedules.wake()),
    job(contracts.createBuildsJob, async () => deliveries.wake()),
    job(contracts.evictPayloadsJob, async () =>
      evictPayloads(services, { isClockTrusted: await clockGuard.isTrusted() }),
    ),
    job(contracts.evictLogsJob, async () =>
      evictLogs(services, { isClockTrusted: await clockGuard.isTrusted() }),
    ),
    job(contracts.evictArtifactsJob, async () =>
      evictArtifacts(services, { isClockTrusted: await clockGuard.isTrusted() }),
    ),
    job(
      contracts.removeUnnamedBlobsJob,
      async () => (await clockGuard.isTrusted()) && removeUnnamedBlobs(services),
    ),
    job(
      contracts.failForgottenArtifactsJob,
      async () => (await clockGuard.isTrusted()) && failForgottenArtifacts(services),
    ),
    job(
      contracts.expireDeviceCodesJob,
      async () => (await clockGuard.isTrusted()) && expireDeviceCodes(services),
    ),
    job(contracts.recordUsageJob, () => recordUsage(services)),
    job(contracts.doTasksJob, async () => tasks.wake()),
    job(
      contracts.loseUnseenAgentsJob,
      async () => (await clockGuard.isRight()) && loseUnseenAgents(services),
    ),
    job(contracts.releaseReservationsJob, async () => {
      if (!(await clockGuard.isRight())) return;
      await releaseExpired(services);
      await loseSilentStacks(services);
    }),
    job(contracts.timeOutJobsJob, async () => {
      if (!(await clockGuard.isRight())) return;
      await timeOutJobs(services);
      await endForcedJobs(services);
      await takeBackOffers(services);
    }),
    job(contracts.expireJobsJob, async () => (await clockGuard.isTrusted()) && expireJobs(services)),
    job(
      contracts.countStoredBytesJob,
      async () => (await clockGuard.isTrusted()) && countStoredBytes(services),
    ),
    job(contracts.recountRecordsJob, async () => (await clockGuard.isTrusted()) && recountRecords(services)),
    job(contracts.followProvidersJob, () => followProvidersOfAll(services)),
    job(contracts.fillWordsJob, async () => (await clockGuard.isTrusted()) && fillWords(services)),
    job(contracts.rollUpFiguresJob, async () => (await clockGuard.isTrusted()) && rollUpFigures(services)),
    job(contracts.purgeExpiredJob, async () => (await clockGuard.isTrusted()) && purgeExpired(services)),
  ];
  const looking = [
    ...(queues.includes("deliveries") ? [deliveries] : []),
    ...(queues.includes("dispatch") ? [tasks, schedules] : []),
    ...(outbox ? [outbox] : []),
  ];
  const timer = setInterval(() => {
    for (const each of looking) each.wake();
  }, lookEveryMs);
  const end = () => {
    clearInterval(timer);
    return {
      deliveries: deliveries.close(),
      tasks: tasks.close(),
      schedules: schedules.close(),
      ...(outbox && { messages: outbox.close() }),
    };
  };
  return { jobs, end, close: async () => void (await Promise.all(Object.values(end()))) };
}

function job(contract: JobContract, run: () => Promise<unknown>): WorkerJob {
  return { contract, run: async () => void (await run()) };
}
