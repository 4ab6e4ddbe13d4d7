import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { isId } from "../../../shared/ids.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { listPipelineNamesOfTriggers } from "../../../shared/triggers/store.ts";
import { type MemberRequest, memberPage, requireAdmin } from "../ui/member-page.ts";
import { AuditList } from "./audit-list.tsx";

const perPage = 100;

/** GET /organizations/:org/audit[?before=<id>], for admins: what was done to anything of the organization. */
export function auditPage(services: Services) {
  const { clock } = services;
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const { organization } = request;
    const { entries, pipelines, beforeId, hasOlder } = await readAudit(services, request);
    const path = pathTo(patterns.auditPage, { org: organization.slug });
    return {
      title: "Audit log",
      within: { organization, section: "audit" },
      content: (
        <>
          <h1>Audit log</h1>
          <p>Who did what to clusters, queues, pipelines, triggers, tokens, apps and members.</p>
          <AuditList entries={entries} now={clock.now()} pipelines={pipelines} />
          {(beforeId || hasOlder) && (
            <nav class="pager" aria-label="Pages">
              {beforeId && <a href={path}>Newest</a>}
              {hasOlder && <a href={`${path}?before=${entries.at(-1)?.event.id}`}>Older</a>}
            </nav>
          )}
        </>
      ),
    };
  });
}

async function readAudit({ db }: Services, { organization, event }: MemberRequest) {
  const given = event.url.searchParams.get("before") ?? "";
  const beforeId = isId(given) ? given : undefined;
  const found = await listAuditEvents(db, { organizationId: organization.id, beforeId }, perPage + 1);
  const entries = found.slice(0, perPage);
  const triggers = entries.filter((each) => each.event.subjectType === "trigger");
  const pipelines = await listPipelineNamesOfTriggers(
    db,
    triggers.map((each) => each.event.subjectId),
  );
  return { entries, pipelines, beforeId, hasOlder: found.length > perPage };
}
