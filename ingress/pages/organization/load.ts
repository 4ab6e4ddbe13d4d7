import { listAuditPage } from "../../../shared/accounts/audit-store.ts";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { listPlacedJobs } from "../../../shared/agents/list-store.ts";
import { listReasonsInQueues } from "../../../shared/agents/waiting/reason.ts";
import { listLongestWaiting } from "../../../shared/builds/reading/job-list-store.ts";
import { countBuildsByStates, listBuildsInBrief } from "../../../shared/builds/reading/list.ts";
import { hourMs, hourOf } from "../../../shared/durations.ts";
import { listPausedQueues, listQueuesById } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { listRefusalCountsOfOrganization } from "../../../shared/triggers/deliveries/refusal-counts-store.ts";
import { blockedBuildStates } from "../../../shared/vocabulary.ts";
import { linkIdPages, readIdPage, splitPage } from "../../http/cursor-pager.ts";
import { withPipelines } from "../builds/load.ts";
import { addressOf, queryOf } from "../search/read.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { readAuditSearch } from "./audit-search.tsx";
import { loadPlaces } from "./places.ts";

const perPage = 100;
const cursorNames = { older: "before" };
export const overviewLengths = { builds: 5, waiting: 3, paused: 10, refusalCounts: 100 };

/** More builds that wait for people are not counted. */
export const maxBlocked = 99;

export type Overview = Awaited<ReturnType<typeof loadOverview>>;

/** The present state of an organization: a few rows of each kind, by indexes. */
export async function loadOverview(services: Services, { id }: Organization) {
  const { db, clock } = services;
  const newest = { limit: overviewLengths.builds, offset: 0 };
  const { rows } = await listBuildsInBrief(db, { organizationId: id, includePaused: true }, newest);
  const waiting = await listLongestWaiting(db, id, overviewLengths.waiting);
  const paused = await listPausedQueues(db, id, overviewLengths.paused + 1);
  const placed = await listPlacedJobs(db, waiting);
  const queueIds = [...placed.values()].flatMap(({ job }) => job.queueId ?? []);
  const since = new Date(hourOf(clock.now()).getTime() - hourMs);
  const counts = await listRefusalCountsOfOrganization(db, id, since, overviewLengths.refusalCounts);
  const blocked = { organizationId: id, includePaused: true };
  const [waitForPeople = 0] = await countBuildsByStates(db, blocked, [blockedBuildStates], maxBlocked + 1);
  return {
    builds: await withPipelines(services, rows),
    waitForPeople,
    paused,
    pausedBy: await listUsersById(
      db,
      paused.flatMap(({ queue }) => queue.dispatchPausedById ?? []),
    ),
    waiting: waiting.flatMap((jobId) => placed.get(jobId) ?? []),
    reasons: await listReasonsInQueues(
      services,
      [...placed.values()].map(({ job }) => job),
    ),
    queues: await listQueuesById(db, queueIds),
    refused: [...Map.groupBy(counts, ({ triggerId }) => triggerId).values()],
  };
}

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
