import { expireDeviceCodes } from "../../shared/device/expire.ts";
import { expireDeviceCodes as contract } from "../../shared/jobs/contracts.ts";
import { defineWorkerJob } from "../job.ts";

export const expireDeviceCodesJob = defineWorkerJob(
  contract,
  (services) => () => expireDeviceCodes(services),
);
