import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { listJobsOfQueue } from "../../../shared/agents/list-store.ts";
import { listReasonsInQueues } from "../../../shared/agents/waiting/reason.ts";
import type { CursorPage } from "../../../shared/db/cursor-page.ts";
import { countJobsOfQueues } from "../../../shared/dispatch/store.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type JobState, takenJobStates } from "../../../shared/vocabulary.ts";
import { type CursorNames, readIdPage, splitPage } from "../../http/cursor-pager.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { loadQueue } from "../address/queue.ts";
import { loadAgents } from "../agents/load.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { loadQueueCharts } from "./charts.ts";
import { maxCountedJobs } from "./words.ts";

/** Query parameters of the queue page. */
export const jobCursors = {
  waiting: { older: "waiting_before", newer: "waiting_after" },
  running: { older: "running_before", newer: "running_after" },
};
const maxAuditEntries = 10;
const jobsPerPage = 20;
const agentsPerPage = 30;

export type QueueDetails = Awaited<ReturnType<typeof loadQueueDetails>>;

/** @throws Refusal 404 */
export async function loadQueueDetails(services: Services, request: MemberRequest) {
  const { db } = services;
  const { cluster, queue } = await loadQueue(services, request);
  const { dispatchPausedById, createdById } = queue;
  const users = await listUsersById(db, [createdById, ...(dispatchPausedById ? [dispatchPausedById] : [])]);
  const audited = {
    organizationId: request.organization.id,
    subjects: { types: ["queue"], ids: [queue.id] },
  };
  const waiting = await loadQueueJobs(services, request, queue, ["scheduled"], jobCursors.waiting);
  return {
    cluster,
    queue,
    nameOf: (userId: string | null) => users.get(userId ?? "")?.name ?? "somebody",
    counts: (await countJobsOfQueues(db, [queue.id], maxCountedJobs)).get(queue.id),
    agents: await loadQueueAgents(services, request, queue),
    waiting,
    reasons: await listReasonsInQueues(
      services,
      waiting.rows.map(({ job }) => job),
    ),
    running: await loadQueueJobs(services, request, queue, takenJobStates, jobCursors.running),
    audit: await listAuditEvents(db, audited, maxAuditEntries),
    charts: await loadQueueCharts(services, request.organization.id, queue),
  };
}

/** One page of its agents. */
function loadQueueAgents(services: Services, { event, organization }: MemberRequest, { id }: Queue) {
  const filter = { organizationId: organization.id, queueId: id };
  return readWithin(readPageOf(event, agentsPerPage), (page) => loadAgents(services, filter, page));
}

export type JobsPage = Awaited<ReturnType<typeof loadQueueJobs>>;

/** One page of its jobs in these states: the first one if those of the address are gone. */
async function loadQueueJobs(
  { db }: Services,
  { event }: MemberRequest,
  { id }: Queue,
  states: JobState[],
  names: CursorNames,
) {
  const read = async (page: CursorPage) =>
    splitPage(
      { ...page, isOldestFirst: true },
      await listJobsOfQueue(db, id, states, page),
      ({ job }) => job.id,
    );
  const found = await read(readIdPage(event, names, jobsPerPage));
  return found.rows.length > 0 ? found : read({ limit: jobsPerPage });
}
