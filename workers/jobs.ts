import { recordUsage } from "../shared/accounts/access-tokens.ts";
import { endForcedJobs, expireJobs, takeBackOffers, timeOutJobs } from "../shared/agents/expire.ts";
import { evictLogs } from "../shared/agents/logs/evict.ts";
import { loseUnseenAgents } from "../shared/agents/lost.ts";
import { openArtifactChecks } from "../shared/artifacts/check.ts";
import { evictArtifacts } from "../shared/artifacts/evict.ts";
import { failForgottenArtifacts } from "../shared/artifacts/fail.ts";
import { removeUnnamedBlobs } from "../shared/artifacts/remove-unnamed.ts";
import { openFollowUps } from "../shared/builds/follow-ups/follow-ups.ts";
import { renewSharedSteps } from "../shared/builds/shared-steps.ts";
import { expireDeviceCodes } from "../shared/device/expire.ts";
import { openFanOuts, requeueDispatchPauses } from "../shared/dispatch/fan-out.ts";
import * as contracts from "../shared/jobs/contracts.ts";
import type { JobContract } from "../shared/jobs/define.ts";
import { openClockGuard } from "../shared/process/clock-guard.ts";
import type { Services } from "../shared/process/services.ts";
import { countStoredBytes } from "../shared/retention/organizations.ts";
import { recountRecords } from "../shared/retention/records.ts";
import { openBulkRebuilds, requeueBulkRebuilds } from "../shared/triggers/bulk-rebuilds/run.ts";
import { type DeliveryBuilder, openDeliveryBuilder } from "../shared/triggers/deliveries/build.ts";
import { requeueStranded } from "../shared/triggers/deliveries/requeue.ts";
import { evictPayloads } from "../shared/triggers/payloads/payloads.ts";
import { purgeExpired } from "./purge-expired.ts";
import { rollUpFigures } from "./roll-up-figures.ts";

export interface WorkerJob {
  contract: JobContract;
  /** @throws if another version sent data that does not fit the contract */
  run: (data: unknown) => Promise<void>;
}

export interface WorkerJobs {
  jobs: WorkerJob[];
  close: () => Promise<void>;
}

export function openWorkerJobs(services: Services): WorkerJobs {
  const builder = openDeliveryBuilder(services);
  const clockGuard = openClockGuard(services);
  const fanOuts = openFanOuts(services);
  const bulkRebuilds = openBulkRebuilds(services);
  const followUps = openFollowUps(services);
  const artifactChecks = openArtifactChecks(services);
  const jobs = [
    job(contracts.createBuildsJob, ({ deliveryIds }) => buildAll(builder, deliveryIds)),
    job(contracts.requeueStrandedDeliveriesJob, () => requeueStranded(services)),
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
    job(contracts.checkArtifactsJob, async ({ artifactIds }) => {
      for (const id of artifactIds) artifactChecks.add(id);
    }),
    job(
      contracts.failForgottenArtifactsJob,
      async () => (await clockGuard.isTrusted()) && failForgottenArtifacts(services),
    ),
    job(
      contracts.expireDeviceCodesJob,
      async () => (await clockGuard.isTrusted()) && expireDeviceCodes(services),
    ),
    job(contracts.recordUsageJob, () => recordUsage(services)),
    job(contracts.fanOutDispatchPauseJob, async ({ queueId }) => fanOuts.add(queueId)),
    job(contracts.requeueDispatchPausesJob, () => requeueDispatchPauses(services)),
    job(contracts.rebuildDeliveriesJob, async ({ bulkRebuildId }) => bulkRebuilds.add(bulkRebuildId)),
    job(contracts.requeueBulkRebuildsJob, () => requeueBulkRebuilds(services)),
    job(contracts.doFollowUpsJob, () => followUps.doLeftOver()),
    job(
      contracts.loseUnseenAgentsJob,
      async () => (await clockGuard.isRight()) && loseUnseenAgents(services),
    ),
    job(contracts.timeOutJobsJob, async () => {
      if (!(await clockGuard.isRight())) return;
      await timeOutJobs(services);
      await endForcedJobs(services);
      await takeBackOffers(services);
    }),
    job(contracts.renewSharedStepsJob, () => renewSharedSteps(services)),
    job(contracts.expireJobsJob, async () => (await clockGuard.isTrusted()) && expireJobs(services)),
    job(
      contracts.countStoredBytesJob,
      async () => (await clockGuard.isTrusted()) && countStoredBytes(services),
    ),
    job(contracts.recountRecordsJob, async () => (await clockGuard.isTrusted()) && recountRecords(services)),
    job(contracts.rollUpFiguresJob, async () => (await clockGuard.isTrusted()) && rollUpFigures(services)),
    job(contracts.purgeExpiredJob, async () => (await clockGuard.isTrusted()) && purgeExpired(services)),
  ];
  const close = async () =>
    void (await Promise.all(
      [builder, fanOuts, bulkRebuilds, followUps, artifactChecks].map((each) => each.close()),
    ));
  return { jobs, close };
}

function job<Data>(contract: JobContract<Data>, run: (data: Data) => Promise<unknown>): WorkerJob {
  return {
    contract: contract as JobContract,
    run: async (data) => void (await run(contract.data.parse(data))),
  };
}

/** @throws the first error, once all are done */
async function buildAll(builder: DeliveryBuilder, deliveryIds: string[]): Promise<void> {
  const outcomes = await Promise.allSettled(deliveryIds.map((id) => builder.add(id)));
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure) throw failure.reason;
}
