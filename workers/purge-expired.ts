import { oldAuditEvents } from "../shared/accounts/audit.ts";
import { expiredInvitations } from "../shared/accounts/invitations.ts";
import { expiredSessions } from "../shared/accounts/sessions.ts";
import { purgeLogsOfBuilds } from "../shared/agents/logs/evict.ts";
import { descriptionsOfEndedAgents, oldAgents } from "../shared/agents/lost.ts";
import { purgeNotificationsOfBuilds } from "../shared/agents/stacks/notifications.ts";
import { lostStacks } from "../shared/agents/stacks/register.ts";
import { purgeArtifactsOfBuilds } from "../shared/artifacts/evict.ts";
import { emptyGroups } from "../shared/builds/groups/retention.ts";
import { buildFigures } from "../shared/builds/keeping/figures.ts";
import { expiredJobTokens, purgeBuilds } from "../shared/builds/keeping/purge.ts";
import { queueFigures } from "../shared/dispatch/figures.ts";
import { waitFigures } from "../shared/dispatch/wait-figures.ts";
import { oldFigures } from "../shared/figures/hours.ts";
import { retiredSigningKeys } from "../shared/identity/rotation.ts";
import { endedTokens } from "../shared/oauth/retention.ts";
import { oldMessages } from "../shared/outbox/retention.ts";
import { type Expiring, purgeAll } from "../shared/retention/expiring.ts";
import type { Services } from "../shared/services/services.ts";
import { oldOpenRequests } from "../shared/sources/open-requests.ts";
import { oldBulkRebuilds } from "../shared/triggers/bulk-rebuilds/ask.ts";
import { deliveryFigures } from "../shared/triggers/deliveries/figures.ts";
import { oldRefusalCounts } from "../shared/triggers/deliveries/refusal-counts.ts";
import { oldRefusedRequests } from "../shared/triggers/deliveries/refused-requests.ts";
import { oldDeliveries } from "../shared/triggers/payloads/payloads.ts";

/** A run purges them in this order. */
const expiring: Expiring[] = [
  expiredJobTokens,
  {
    name: "builds",
    purge: (services) =>
      purgeBuilds(services, async (ids) => {
        await purgeLogsOfBuilds(services, ids);
        await purgeNotificationsOfBuilds(services, ids);
        await purgeArtifactsOfBuilds(services, ids);
      }),
  },
  ...oldDeliveries,
  oldBulkRebuilds,
  oldOpenRequests,
  oldRefusalCounts,
  oldRefusedRequests,
  ...oldFigures([
    ...deliveryFigures.figures,
    ...buildFigures.figures,
    ...waitFigures.figures,
    ...queueFigures,
  ]),
  oldAuditEvents,
  oldMessages,
  ...endedTokens,
  expiredSessions,
  expiredInvitations,
  oldAgents,
  descriptionsOfEndedAgents,
  lostStacks,
  emptyGroups,
  retiredSigningKeys,
];

export async function purgeExpired(services: Services): Promise<void> {
  services.log.info(await purgeAll(services, expiring), "purged what is past its retention");
}
