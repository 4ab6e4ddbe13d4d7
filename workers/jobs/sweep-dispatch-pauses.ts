import { sweepDispatchPauses } from "../../shared/dispatch/fan-out.ts";
import { sweepDispatchPauses as contract } from "../../shared/jobs/contracts.ts";
import { defineWorkerJob } from "../job.ts";

export const sweepDispatchPausesJob = defineWorkerJob(
  contract,
  (services) => () => sweepDispatchPauses(services),
);
