import { purgeAuditEvents } from "../../shared/accounts/audit.ts";
import { purgeBuilds } from "../../shared/builds/builds.ts";
import { sweepRetention } from "../../shared/jobs/contracts.ts";
import { purgeDeliveries } from "../../shared/triggers/payloads.ts";
import { defineWorkerJob } from "../job.ts";

export const sweepRetentionJob = defineWorkerJob(sweepRetention, (services) => async () => {
  const builds = await purgeBuilds(services);
  const deliveries = await purgeDeliveries(services);
  const auditEvents = await purgeAuditEvents(services);
  services.log.info({ builds, deliveries, auditEvents }, "swept what is past its retention");
});
