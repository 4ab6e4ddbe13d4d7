import { purgeAuditEvents } from "../shared/accounts/audit.ts";
import { purgeInvitations } from "../shared/accounts/invitations.ts";
import { purgeSessions } from "../shared/accounts/sessions.ts";
import { purgeLogsOfBuilds } from "../shared/agents/logs/evict.ts";
import { purgeAgents } from "../shared/agents/lost.ts";
import { purgeBuilds } from "../shared/builds/builds.ts";
import { buildFigures } from "../shared/builds/figures.ts";
import { queueFigures } from "../shared/dispatch/figures.ts";
import { waitFigures } from "../shared/dispatch/wait-figures.ts";
import { purgeFigures } from "../shared/figures/fold.ts";
import { purgeTokens } from "../shared/oauth/retention.ts";
import type { Services } from "../shared/process/services.ts";
import { purgeBulkRebuilds } from "../shared/triggers/bulk-rebuilds/ask.ts";
import { deliveryFigures } from "../shared/triggers/deliveries/figures.ts";
import { purgeRefusalCounts } from "../shared/triggers/deliveries/refusal-counts.ts";
import { purgeRefusedRequests } from "../shared/triggers/deliveries/refused-requests.ts";
import { purgeDeliveries } from "../shared/triggers/payloads/payloads.ts";

export async function purgeExpired(services: Services): Promise<void> {
  const builds = await purgeBuilds(services, (ids) => purgeLogsOfBuilds(services, ids));
  const deliveries = await purgeDeliveries(services);
  const bulkRebuilds = await purgeBulkRebuilds(services);
  const refused = await purgeRefusalCounts(services);
  const refusedRequests = await purgeRefusedRequests(services);
  const figures = await purgeFigures(services, [
    ...deliveryFigures.figures,
    ...buildFigures.figures,
    ...waitFigures.figures,
    ...queueFigures,
  ]);
  const auditEvents = await purgeAuditEvents(services);
  const tokens = await purgeTokens(services);
  const sessions = await purgeSessions(services);
  const invitations = await purgeInvitations(services);
  const agents = await purgeAgents(services);
  services.log.info(
    {
      builds,
      deliveries,
      bulkRebuilds,
      refused,
      refusedRequests,
      figures,
      auditEvents,
      tokens,
      sessions,
      invitations,
      agents,
    },
    "purged what is past its retention",
  );
}
