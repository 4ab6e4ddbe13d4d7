import { createBuilds } from "../../shared/jobs/contracts.ts";
import { openDeliveryBuilder } from "../../shared/triggers/deliveries/build.ts";
import { defineWorkerJob } from "../job.ts";

export const createBuildsJob = defineWorkerJob(createBuilds, (services) => {
  const builder = openDeliveryBuilder(services);
  return async ({ deliveryIds }) => {
    const outcomes = await Promise.allSettled(deliveryIds.map((id) => builder.add(id)));
    const failure = outcomes.find((outcome) => outcome.status === "rejected");
    if (failure) throw failure.reason;
  };
});
