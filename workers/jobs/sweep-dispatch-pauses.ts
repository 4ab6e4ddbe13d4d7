import { sweepDispatchPauses } from "../../shared/builds/dispatch.ts";
import { sweepDispatchPauses as contract } from "../../shared/jobs/contracts.ts";
import { defineWorkerJob } from "../job.ts";

export const sweepDispatchPausesJob = defineWorkerJob(
  contract,
  (services) => () => sweepDispatchPauses(services),
);
