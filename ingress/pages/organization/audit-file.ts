import { HTTPResponse } from "h3";
import { type AuditFilter, listAuditPage } from "../../../shared/accounts/audit-store.ts";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import type { CursorPage } from "../../../shared/db/cursor-page.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { streamDownload } from "../../http/downloads.ts";
import { memberPage, requireAdmin } from "../ui/member-page.ts";
import { readAuditSearch } from "./audit-search.tsx";

const perPage = 500;
/** `changes` is the JSON of REST. */
const columns = ["time", "actor", "action", "type", "id", "name", "changes"];

/** GET …/audit.csv: the entries that the search finds, for admins. */
export function auditFile(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const { event, visitor, organization } = request;
    const { filter } = await readAuditSearch(services, request);
    const owner = { holder: `session ${hashToken(visitor.token)}`, organizationId: organization.id };
    return new HTTPResponse(streamDownload(event, owner, readRows(services, filter)), {
      headers: {
        "content-type": "text/csv;charset=UTF-8;header=present",
        "content-disposition": `attachment; filename="audit-${organization.slug}.csv"`,
        "cache-control": "private, no-store",
        "x-content-type-options": "nosniff",
      },
    });
  });
}

/** A page at a time, so that a long log takes little memory. */
async function* readRows({ db }: Services, filter: AuditFilter): AsyncGenerator<Uint8Array> {
  yield Buffer.from(line(columns));
  for (let page: CursorPage | undefined = { limit: perPage }; page; ) {
    const entries = await listAuditPage(db, filter, page);
    const rows = entries
      .slice(0, perPage)
      .map(({ event, actor }) =>
        line([
          ...[event.createdAt.toISOString(), actor, event.action],
          ...[event.subjectType, event.subjectId, event.subject],
          JSON.stringify(event.changes ?? []),
        ]),
      );
    if (rows.length > 0) yield Buffer.from(rows.join(""));
    const last = entries[perPage - 1]?.event.id;
    page = last && entries.length > perPage ? { limit: perPage, olderThan: last } : undefined;
  }
}

/** RFC 4180. */
function line(cells: string[]): string {
  return `${cells.map(cell).join(",")}\r\n`;
}

/** A spreadsheet runs a cell that begins like a formula, unless an apostrophe comes first. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
