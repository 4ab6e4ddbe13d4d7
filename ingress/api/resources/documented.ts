import { agentTokenMembers } from "../../../shared/agents/members.ts";
import { clusterMembers } from "../../../shared/clusters/members.ts";
import { connectionMembers } from "../../../shared/connections/members.ts";
import type { AnyMembers } from "../../../shared/members/member.ts";
import { notificationServiceMembers } from "../../../shared/notifications/members.ts";
import { pipelineMembers } from "../../../shared/pipelines/members.ts";
import { queueMembers } from "../../../shared/queues/members.ts";
import { scheduleMembers } from "../../../shared/schedules/members.ts";
import { secretMembers } from "../../../shared/secrets/members.ts";
import { triggerMembers } from "../../../shared/triggers/members.ts";

/** By page of the wire contract: the resources whose members have a table there, which `npm run settings` writes. */
export const documentedResources: Record<string, Record<string, AnyMembers>> = {
  "ingress/api/README.md": {
    clusters: clusterMembers,
    tokens: agentTokenMembers,
    secrets: secretMembers,
    queues: queueMembers,
    pipelines: pipelineMembers,
    schedules: scheduleMembers,
    triggers: triggerMembers,
  },
  "ingress/api/provider/README.md": { "repository connections": connectionMembers },
  "ingress/api/notifications/README.md": { "notification services": notificationServiceMembers },
};
