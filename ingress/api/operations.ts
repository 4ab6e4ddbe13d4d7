import type { Services } from "../../shared/services/services.ts";
import type { Operation } from "../operations/operation.ts";
import { accessTokenOperations } from "./access-token.ts";
import { agentOperations } from "./agents.ts";
import { annotationOperations } from "./annotations/annotations.ts";
import { artifactOperations } from "./artifacts/artifacts.ts";
import { buildOperations } from "./builds.ts";
import { bulkRebuildOperations } from "./bulk-rebuilds.ts";
import { agentTokenOperations } from "./clusters/agent-tokens.ts";
import { clusterOperations } from "./clusters/clusters.ts";
import { queueOperations } from "./clusters/queues.ts";
import { secretOperations } from "./clusters/secrets.ts";
import { connectionOperations } from "./connections.ts";
import { deliveryOperations } from "./deliveries.ts";
import { jobOperations } from "./jobs/jobs.ts";
import { jobListOperations } from "./jobs/list.ts";
import { logOperations } from "./jobs/logs.ts";
import { uploadOperations } from "./jobs/uploads.ts";
import { metaOperations } from "./meta.ts";
import { notificationServiceOperations } from "./notifications.ts";
import { auditOperations } from "./organizations/audit-events.ts";
import { mailOperations } from "./organizations/mails.ts";
import { memberOperations } from "./organizations/members.ts";
import { organizationOperations } from "./organizations/organizations.ts";
import { settingsOperations } from "./organizations/settings.ts";
import { pipelineOperations } from "./pipelines.ts";
import { providerOperations } from "./provider/provider.ts";
import { scheduleOperations } from "./schedules.ts";
import { stackOperations } from "./stacks.ts";
import { triggerOperations } from "./triggers.ts";
import { userOperations } from "./users.ts";

/** All operations of the REST API. */
export function restOperations(services: Services): Operation[] {
  return [
    ...userOperations(services),
    ...accessTokenOperations(services),
    ...metaOperations(),
    ...organizationOperations(services),
    ...settingsOperations(services),
    ...memberOperations(services),
    ...mailOperations(services),
    ...auditOperations(services),
    ...connectionOperations(services),
    ...notificationServiceOperations(services),
    ...clusterOperations(services),
    ...queueOperations(services),
    ...agentTokenOperations(services),
    ...secretOperations(services),
    ...pipelineOperations(services),
    ...buildOperations(services),
    ...jobListOperations(services),
    ...uploadOperations(services),
    ...logOperations(services),
    ...artifactOperations(services),
    ...jobOperations(services),
    ...annotationOperations(services),
    ...agentOperations(services),
    ...stackOperations(services),
    ...scheduleOperations(services),
    ...triggerOperations(services),
    ...deliveryOperations(services),
    ...bulkRebuildOperations(services),
    ...providerOperations(services),
  ];
}
