import { listAuditPage } from "../../../shared/accounts/audit-store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { linkIdPages, readIdPage, splitPage } from "../../http/cursor-pager.ts";
import { addressOf, queryOf } from "../search/read.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { readAuditSearch } from "./audit-search.tsx";
import { loadPlaces } from "./places.ts";

const perPage = 100;
const cursorNames = { older: "before" };

/** @param path of the page, for its links */
export async function loadAuditLog(services: Services, request: MemberRequest, path: string) {
  const { db } = services;
  const cursor = readIdPage(request.event, cursorNames, perPage);
  const { search, filter } = await readAuditSearch(services, request);
  const found = await listAuditPage(db, filter, cursor);
  const page = splitPage(cursor, found, (entry) => entry.event.id);
  const { older } = linkIdPages(path, cursorNames, page, queryOf(search));
  return {
    search,
    entries: page.rows,
    places: await loadPlaces(services, request.organization.slug, page.rows),
    links: { Newest: page.isFirst ? undefined : addressOf(path, search), Older: older },
  };
}
