import { listAuditEvents } from "../../shared/accounts/store.ts";
import type { Services } from "../../shared/services.ts";
import { AuditList } from "./audit-list.tsx";
import { memberPage } from "./member-page.ts";

const mostEntries = 200;

/** GET /organizations/:org/audit: the newest of what was done to anything of the organization. */
export function auditPage(services: Services) {
  const { db, clock } = services;
  return memberPage(services, async ({ organization }) => {
    const entries = await listAuditEvents(db, { organizationId: organization.id }, mostEntries);
    return {
      title: "Audit log",
      within: { organization, section: "audit" },
      content: (
        <>
          <h1>Audit log</h1>
          <p>Who did what to clusters, queues, pipelines, triggers, tokens, apps and members.</p>
          <AuditList entries={entries} now={clock.now()} />
        </>
      ),
    };
  });
}
