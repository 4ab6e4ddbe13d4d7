import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { listPipelineNamesOfTriggers } from "../../../shared/triggers/store.ts";
import { linkIdPages, readIdPage, splitPage } from "../../http/cursor-pager.ts";
import type { MemberRequest } from "../ui/member-page.ts";

const perPage = 100;
const cursorNames = { older: "before" };

/** @param path of the page, for its links */
export async function loadAuditLog({ db }: Services, { organization, event }: MemberRequest, path: string) {
  const cursor = readIdPage(event, cursorNames, perPage);
  const filter = { organizationId: organization.id, beforeId: cursor.olderThan };
  const found = await listAuditEvents(db, filter, perPage + 1);
  const page = splitPage(cursor, found, (entry) => entry.event.id);
  const triggers = page.rows.filter((entry) => entry.event.subjectType === "trigger");
  const pipelines = await listPipelineNamesOfTriggers(
    db,
    triggers.map((entry) => entry.event.subjectId),
  );
  const { older } = linkIdPages(path, cursorNames, page);
  return { entries: page.rows, pipelines, links: { Newest: page.isFirst ? undefined : path, Older: older } };
}
