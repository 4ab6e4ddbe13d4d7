import { HTTPResponse } from "h3";
import { type AuditFilter, listAuditPart } from "../../../shared/accounts/audit-store.ts";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import type { Services } from "../../../shared/services/services.ts";
import { streamDownload } from "../../http/downloads.ts";
import { adminPage } from "../ui/member-page.ts";
import { readAuditSearch } from "./audit-search.tsx";

/** With the longest changes about 100 KB. */
const entriesAtOnce = 100;
/** `changes` is the JSON of REST. */
const columns = ["time", "actor", "action", "type", "id", "name", "changes"];

/** GET …/audit.csv: the entries that the search finds, for admins. */
export const auditFile = adminPage(async (services, request) => {
  const { event, visitor, organization } = request;
  const { filter } = await readAuditSearch(services, request);
  const owner = { holder: `session ${hashToken(visitor.token)}`, organizationId: organization.id };
  return new HTTPResponse(streamDownload(event, owner, readAuditRows(services, filter)), {
    headers: {
      "content-type": "text/csv;charset=UTF-8;header=present",
      "content-disposition": `attachment; filename="audit-${organization.slug}.csv"`,
      "cache-control": "private, no-store",
    },
  });
});

/** A part at a time, so that a long log takes little memory. An empty one shows whether the client is there. */
async function* readAuditRows({ db }: Pick<Services, "db">, filter: AuditFilter): AsyncGenerator<Uint8Array> {
  yield Buffer.from(line(columns));
  for (let olderThan: string | undefined; ; ) {
    const { entries, next } = await listAuditPart(db, filter, { olderThan, size: entriesAtOnce });
    const rows = entries.map(({ event, actor }) =>
      line([
        event.createdAt.toISOString(),
        actor,
        event.action,
        event.subjectType,
        event.subjectId,
        event.subject,
        JSON.stringify(event.changes ?? []),
      ]),
    );
    yield Buffer.from(rows.join(""));
    if (next === undefined) return;
    olderThan = next;
  }
}

/** RFC 4180. */
function line(cells: string[]): string {
  return `${cells.map(cell).join(",")}\r\n`;
}

/** Some spreadsheets also split a row at semicolons, tabs or line ends, inside quotes too. */
const formulaStart = /(^|[;\t\r\n])(?=[\s"]*[=+\-@＝＋－＠])|^(?=[\t\r\n])/g;

/** A spreadsheet runs a cell that begins like a formula, unless an apostrophe comes first. */
function cell(text: string): string {
  return `"${text.replace(formulaStart, "$1'").replaceAll('"', '""')}"`;
}
