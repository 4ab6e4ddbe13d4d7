import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { listAgentsPage } from "../../../shared/agents/list-store.ts";
import { listAgentTokensPage } from "../../../shared/agents/token-store.ts";
import { type Cluster, listClustersPage } from "../../../shared/clusters/store.ts";
import { countInClusters, listPausedKeys } from "../../../shared/dispatch/cluster-store.ts";
import { listWorkOfOrganization } from "../../../shared/dispatch/figures-store.ts";
import { countJobsOfQueues } from "../../../shared/dispatch/store.ts";
import {
  listQueueIds,
  listQueueKeys,
  listQueuesById,
  listQueuesPage,
  type QueueKey,
} from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { loadCluster } from "../address/cluster.ts";
import { loadAgents, withContext } from "../agents/load.ts";
import { loadStacks } from "../agents/stacks.tsx";
import { maxCountedJobs } from "../queues/words.ts";
import { maxChoices } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { loadClusterChart } from "./chart.ts";

const perPage = 30;
/** The parameters of the list of registration tokens. */
export const tokensPrefix = "tokens_";
/** The parameters of the list of agents. */
export const agentsPrefix = "agents_";
const maxQueues = 50;
const maxPausedQueues = 200;
/** A page has up to 30 clusters with 50 queues each. */
const maxCountedOfQueue = 100;
const maxAuditEntries = 20;
const maxAuditedQueues = 200;

export type ClusterList = Awaited<ReturnType<typeof loadClusters>>;

/** One page of clusters and of agents, and the first queues with their work. */
export async function loadClusters(services: Services, { organization, event }: MemberRequest) {
  const { db } = services;
  const organizationId = organization.id;
  const queues = await listWorkOfOrganization(db.offLoop, {
    organizationId,
    limit: maxQueues + 1,
    max: maxCountedOfQueue,
  });
  const agents = await readWithin(readPageOf(event, perPage, agentsPrefix), (page) =>
    listAgentsPage(db, { organizationId }, page),
  );
  const list = await readWithin(readPageOf(event, perPage), (page) =>
    listClustersPage(db, organizationId, page),
  );
  const ids = list.rows.map(({ id }) => id);
  return {
    list,
    queues: queues.slice(0, maxQueues),
    hasMoreQueues: queues.length > maxQueues,
    agents: { ...agents, ...(await withContext(services, agents.rows)) },
    paused: await listPausedKeys(db, ids, maxPausedQueues),
    counts: await countInClusters(db, ids, maxCountedOfQueue),
  };
}

/** @throws Refusal 404 */
export async function loadClusterAndQueues(
  services: Services,
  request: MemberRequest,
): Promise<{ cluster: Cluster; queues: QueueKey[] }> {
  const cluster = await loadCluster(services, request);
  const queues = await listQueueKeys(services.db, cluster.id, maxChoices);
  const { defaultQueueId } = cluster;
  if (defaultQueueId === null || queues.some(({ id }) => id === defaultQueueId)) return { cluster, queues };
  return { cluster, queues: [...queues, ...(await listQueuesById(services.db, [defaultQueueId])).values()] };
}

export type ClusterDetails = Awaited<ReturnType<typeof loadClusterDetails>>;

/** @throws Refusal 404 */
export async function loadClusterDetails(services: Services, request: MemberRequest) {
  const { db } = services;
  const cluster = await loadCluster(services, request);
  const list = await readWithin(readPageOf(request.event, perPage), (page) =>
    listQueuesPage(db, cluster.id, page),
  );
  const queues = list.rows;
  const queueIds = queues.map(({ id }) => id);
  const counts = await countJobsOfQueues(db, queueIds, maxCountedJobs);
  const ofCluster = { organizationId: cluster.organizationId, clusterId: cluster.id };
  return {
    cluster,
    queues,
    counts,
    list,
    agents: await loadAgents(services, ofCluster, { limit: perPage, offset: 0 }),
    stacks: await loadStacks(services, ofCluster),
    chart: await loadClusterChart(services, queueIds),
    tokens: await loadTokens(services, request, cluster),
    /** For the form of a new token. */
    choices: await listQueueKeys(db, cluster.id, maxChoices),
    audit: await loadAudit(services, cluster),
  };
}

/** One page of the registration tokens that were not revoked, and the queues that they are bound to. */
async function loadTokens({ db }: Services, { event }: MemberRequest, { id }: Cluster) {
  const list = await readWithin(readPageOf(event, perPage, tokensPrefix), (page) =>
    listAgentTokensPage(db, id, page),
  );
  const queueIds = list.rows.flatMap(({ queueId }) => queueId ?? []);
  return { list, queues: await listQueuesById(db, queueIds) };
}

/** Includes deleted queues. */
async function loadAudit({ db }: Services, { id, organizationId }: Cluster) {
  const ids = [id, ...(await listQueueIds(db, id, maxAuditedQueues))];
  const filter = { organizationId, subjects: { types: ["cluster", "queue"], ids } };
  return listAuditEvents(db, filter, maxAuditEntries);
}
