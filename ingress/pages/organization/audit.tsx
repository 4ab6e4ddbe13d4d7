import { pathTo, patterns } from "../../../shared/paths.ts";
import { SearchForm } from "../search/form.tsx";
import { addressOf } from "../search/read.ts";
import { AuditEntries } from "../ui/audit-list.tsx";
import { adminPage } from "../ui/member-page.ts";
import { CursorPager } from "../ui/pager.tsx";
import { auditFields } from "./audit-search.tsx";
import { loadAuditLog } from "./load.ts";

/** GET …/audit[?before=<id>], for admins. */
export const auditPage = adminPage(async (services, request) => {
  const { organization } = request;
  const path = pathTo(patterns.auditPage, { org: organization.slug });
  const { entries, places, search, links } = await loadAuditLog(services, request, path);
  return {
    title: "Audit log",
    section: "audit",
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
        <AuditEntries entries={entries} places={places} viewer={request} />
        <CursorPager links={links} />
      </>
    ),
  };
});
