import { requeueDispatchPauses } from "../../shared/dispatch/fan-out.ts";
import { requeueDispatchPauses as contract } from "../../shared/jobs/contracts.ts";
import { defineWorkerJob } from "../job.ts";

export const requeueDispatchPausesJob = defineWorkerJob(
  contract,
  (services) => () => requeueDispatchPauses(services),
);
