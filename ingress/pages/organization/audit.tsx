import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { SearchForm } from "../search/form.tsx";
import { addressOf } from "../search/read.ts";
import { AuditList } from "../ui/audit-list.tsx";
import { memberPage, requireAdmin } from "../ui/member-page.ts";
import { CursorPager } from "../ui/pager.tsx";
import { auditFields } from "./audit-search.tsx";
import { loadAuditLog } from "./load.ts";

/** GET …/audit[?before=<id>], for admins. */
export function auditPage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const { organization } = request;
    const path = pathTo(patterns.auditPage, { org: organization.slug });
    const { entries, places, search, links } = await loadAuditLog(services, request, path);
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
          <SearchForm fields={auditFields} search={search} path={path} />
          <p>
            <a href={addressOf(pathTo(patterns.auditFile, { org: organization.slug }), search)}>
              Download these entries as CSV
            </a>
          </p>
          <AuditList entries={entries} now={services.clock.now()} places={places} />
          <CursorPager links={links} />
        </>
      ),
    };
  });
}
