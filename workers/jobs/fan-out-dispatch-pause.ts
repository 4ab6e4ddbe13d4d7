import { fanOutDispatchPause } from "../../shared/dispatch/fan-out.ts";
import { fanOutDispatchPause as contract } from "../../shared/jobs/contracts.ts";
import { defineWorkerJob } from "../job.ts";

export const fanOutDispatchPauseJob = defineWorkerJob(
  contract,
  (services) =>
    ({ queueId }) =>
      fanOutDispatchPause(services, queueId),
);
