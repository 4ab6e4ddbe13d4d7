import { recordUsage } from "../../shared/accounts/access-tokens.ts";
import { recordUsage as contract } from "../../shared/jobs/contracts.ts";
import { defineWorkerJob } from "../job.ts";

export const recordUsageJob = defineWorkerJob(contract, (services) => () => recordUsage(services));
