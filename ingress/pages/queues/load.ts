import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { findConnectedAgentId, listJobsOfQueue } from "../../../shared/agents/list-store.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { countJobsOfQueues, listPausedBuilds } from "../../../shared/dispatch/store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { requireQueue } from "../../../shared/queues/queues.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { leasedJobStates } from "../../../shared/vocabulary.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { loadAgents } from "../agents/load.ts";
import { loadCluster } from "../clusters/load.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import { loadQueuePictures } from "./pictures.ts";
import { maxCountedJobs } from "./words.ts";

const maxPausedBuilds = { limit: 20, maxJobs: maxCountedJobs };
const maxAuditEntries = 10;
const maxJobs = 20;
const agentsPerPage = 30;

export interface LoadedQueue {
  cluster: Cluster;
  queue: Queue;
}

/** @throws Refusal 404 */
export async function loadQueue(services: Services, request: MemberRequest): Promise<LoadedQueue> {
  const cluster = await loadCluster(services, request);
  const queue = await requireQueue(services.db, cluster, request.parameter("queue"));
  addCrumbs(request.event, { text: queue.key, path: queuePath(request, queue) });
  return { cluster, queue };
}

/** Default: the page of the queue. */
export function queuePath(
  { organization }: Pick<MemberRequest, "organization">,
  { clusterId, id }: Queue,
  pattern: PatternWith<"org" | "cluster" | "queue"> = patterns.queuePage,
): string {
  return pathTo(pattern, { org: organization.slug, cluster: clusterId, queue: id });
}

export type QueueDetails = Awaited<ReturnType<typeof loadQueueDetails>>;

/** @throws Refusal 404 */
export async function loadQueueDetails(services: Services, request: MemberRequest) {
  const { db } = services;
  const { cluster, queue } = await loadQueue(services, request);
  const { dispatchPausedAt, dispatchPausedById, createdById } = queue;
  const users = await listUsersById(db, [createdById, ...(dispatchPausedById ? [dispatchPausedById] : [])]);
  const audited = {
    organizationId: request.organization.id,
    subjects: { types: ["queue"], ids: [queue.id] },
  };
  return {
    cluster,
    queue,
    nameOf: (userId: string | null) => users.get(userId ?? "")?.name ?? "somebody",
    counts: (await countJobsOfQueues(db, [queue.id], maxCountedJobs)).get(queue.id),
    agents: await loadQueueAgents(services, request, queue),
    hasConnectedAgent: (await findConnectedAgentId(db, queue.id)) !== undefined,
    waiting: await listJobsOfQueue(db, queue.id, { states: ["scheduled"], limit: maxJobs }),
    running: await listJobsOfQueue(db, queue.id, { states: leasedJobStates, limit: maxJobs }),
    pausedBuilds: dispatchPausedAt ? await listPausedBuilds(db, queue.id, maxPausedBuilds) : undefined,
    audit: await listAuditEvents(db, audited, maxAuditEntries),
    pictures: await loadQueuePictures(services, request.organization.id, queue),
  };
}

/** One page of its agents. */
function loadQueueAgents(services: Services, { event, organization }: MemberRequest, { id }: Queue) {
  const filter = { organizationId: organization.id, queueId: id };
  return readWithin(readPageOf(event, agentsPerPage), (page) => loadAgents(services, filter, page));
}
