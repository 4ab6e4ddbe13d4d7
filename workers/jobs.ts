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

interface WorkerJobs {
  jobs: WorkerJob[];
  /** Begins to end what runs, by its name. */
  end: () => Record<string, Promise<void>>;
  close: () => Promise<void>;
}

type Work = (services: Services) => Promise<unknown>;
type Evict = (services: Services, options: { isClockTrusted: boolean }) => Promise<unknown>;

const taskHandlers: TaskHandlers = {
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
  const ifTrusted = (work: Work) => async () => (await clockGuard.isTrusted()) && work(services);
  const ifRight = (work: Work) => async () => (await clockGuard.isRight()) && work(services);
  const evictBy = (evict: Evict) => async () =>
    evict(services, { isClockTrusted: await clockGuard.isTrusted() });
  const jobs = [
    job(contracts.sendNewsJob, async () => outbox?.wake()),
    job(contracts.createScheduledBuildsJob, async () => schedules.wake()),
    job(contracts.createBuildsJob, async () => deliveries.wake()),
    job(contracts.doTasksJob, async () => tasks.wake()),
    job(contracts.evictPayloadsJob, evictBy(evictPayloads)),
    job(contracts.evictLogsJob, evictBy(evictLogs)),
    job(contracts.evictArtifactsJob, evictBy(evictArtifacts)),
    job(contracts.removeUnnamedBlobsJob, ifTrusted(removeUnnamedBlobs)),
    job(contracts.failForgottenArtifactsJob, ifTrusted(failForgottenArtifacts)),
    job(contracts.expireDeviceCodesJob, ifTrusted(expireDeviceCodes)),
    job(contracts.recordUsageJob, () => recordUsage(services)),
    job(contracts.loseUnseenAgentsJob, ifRight(loseUnseenAgents)),
    job(contracts.releaseReservationsJob, ifRight(oneByOne(releaseExpired, loseSilentStacks))),
    job(contracts.timeOutJobsJob, ifRight(oneByOne(timeOutJobs, endForcedJobs, takeBackOffers))),
    job(contracts.expireJobsJob, ifTrusted(expireJobs)),
    job(contracts.countStoredBytesJob, ifTrusted(countStoredBytes)),
    job(contracts.recountRecordsJob, ifTrusted(recountRecords)),
    job(contracts.followProvidersJob, () => followProvidersOfAll(services)),
    job(contracts.fillWordsJob, ifTrusted(fillWords)),
    job(contracts.rollUpFiguresJob, ifTrusted(rollUpFigures)),
    job(contracts.purgeExpiredJob, ifTrusted(purgeExpired)),
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

function oneByOne(...works: Work[]): Work {
  return async (services) => {
    for (const work of works) await work(services);
  };
}
