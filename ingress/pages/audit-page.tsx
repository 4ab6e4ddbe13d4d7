import { listAuditEvents } from "../../shared/accounts/audit-store.ts";
import { pathTo, patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/services.ts";
import { AuditList } from "./audit-list.tsx";
import { memberPage, requireAdmin } from "./member-page.ts";

const mostEntries = 200;

/** GET /organizations/:org/audit, for admins: the newest of what was done to anything of the organization. */
export function auditPage(services: Services) {
  const { db, clock } = services;
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const { organization } = request;
    const entries = await listAuditEvents(db, { organizationId: organization.id }, mostEntries);
    return {
      title: "Audit log",
      within: { organization, section: "clusters" },
      content: (
        <>
          <p class="back">
            <a href={pathTo(patterns.clustersPage, { org: organization.slug })}>Clusters</a>
          </p>
          <h1>Audit log</h1>
          <p>Who did what to clusters, queues, pipelines, triggers, tokens, apps and members.</p>
          <AuditList entries={entries} now={clock.now()} />
        </>
      ),
    };
  });
}
