import { evictPayloads as contract } from "../../shared/jobs/contracts.ts";
import { evictPayloads } from "../../shared/triggers/payloads/payloads.ts";
import { defineWorkerJob } from "../job.ts";

export const evictPayloadsJob = defineWorkerJob(contract, (services) => () => evictPayloads(services));
