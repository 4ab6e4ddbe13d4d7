import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { listPipelineNamesOfTriggers } from "../../../shared/triggers/store.ts";
import { linkIdPages, readIdPage, splitPage } from "../../http/cursor-pager.ts";
import { type MemberRequest, memberPage, requireAdmin } from "../ui/member-page.ts";
import { CursorPager } from "../ui/pager.tsx";
import { AuditList } from "./audit-list.tsx";

const perPage = 100;
const cursorNames = { older: "before" };

/** GET /organizations/:org/audit[?before=<id>], for admins: what was done to anything of the organization. */
export function auditPage(services: Services) {
  const { clock } = services;
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const { organization } = request;
    const { page, pipelines } = await readAudit(services, request);
    const path = pathTo(patterns.auditPage, { org: organization.slug });
    const { older } = linkIdPages(path, cursorNames, page);
    return {
      title: "Audit log",
      within: { organization, section: "audit" },
      content: (
        <>
          <h1>Audit log</h1>
          <p>
            Who did what to clusters, queues, pipelines, triggers, tokens, apps, members, users and the
            organization.
          </p>
          <AuditList entries={page.rows} now={clock.now()} pipelines={pipelines} />
          <CursorPager links={{ Newest: page.isFirst ? undefined : path, Older: older }} />
        </>
      ),
    };
  });
}

async function readAudit({ db }: Services, { organization, event }: MemberRequest) {
  const asked = readIdPage(event, cursorNames, perPage);
  const filter = { organizationId: organization.id, beforeId: asked.olderThan };
  const page = splitPage(asked, await listAuditEvents(db, filter, perPage + 1), (entry) => entry.event.id);
  const triggers = page.rows.filter((entry) => entry.event.subjectType === "trigger");
  const pipelines = await listPipelineNamesOfTriggers(
    db,
    triggers.map((entry) => entry.event.subjectId),
  );
  return { page, pipelines };
}
