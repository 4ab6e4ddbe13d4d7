import { requeueStrandedDeliveries } from "../../shared/jobs/contracts.ts";
import { requeueStranded } from "../../shared/triggers/deliveries/requeue.ts";
import { defineWorkerJob } from "../job.ts";

export const requeueStrandedDeliveriesJob = defineWorkerJob(
  requeueStrandedDeliveries,
  (services) => () => requeueStranded(services),
);
