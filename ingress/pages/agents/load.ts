import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { hasLostJob } from "../../../shared/agents/hand-out/hand-out.ts";
import { type AgentFilter, listAgentsPage, listPlacedJobs } from "../../../shared/agents/list-store.ts";
import type { Agent } from "../../../shared/agents/store.ts";
import { type Cluster, findClusterById } from "../../../shared/clusters/store.ts";
import type { ListedRows, ListPage } from "../../../shared/db/list-page.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { listQueuesById, type Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { loadAgent } from "../address/agent.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs, type Crumb } from "../ui/page-context.ts";

export type LoadedAgents = Awaited<ReturnType<typeof withContext>> & ListedRows<Agent>;

/** Connected and lost agents, with their jobs and queues. */
export async function loadAgents(
  services: Services,
  filter: AgentFilter,
  page: ListPage,
): Promise<LoadedAgents> {
  const list = await listAgentsPage(services.db, filter, page);
  return { ...list, ...(await withContext(services, list.rows)) };
}

export async function withContext({ db }: Services, agents: Agent[]) {
  const jobs = await listPlacedJobs(
    db,
    agents.flatMap((agent) => [agent.jobId, hasLostJob(agent) ? agent.lostJobId : null]),
  );
  const queues = await listQueuesById(
    db,
    agents.map(({ queueId }) => queueId),
  );
  return { jobs, queues };
}

export type AgentDetails = Awaited<ReturnType<typeof loadAgentDetails>>;

/** @throws Refusal 404 */
export async function loadAgentDetails(services: Services, request: MemberRequest) {
  const { db } = services;
  const agent = await loadAgent(services, request);
  const { jobs, queues } = await withContext(services, [agent]);
  const userIds = [agent.pausedById, agent.stopRequestedById].filter((id) => id !== null);
  const users = await listUsersById(db, userIds);
  const queue = queues.get(agent.queueId);
  const cluster = await findClusterById(db, agent.clusterId);
  addCrumbs(request.event, ...crumbsAbove(request.organization.slug, cluster, queue));
  return {
    agent,
    queue,
    cluster,
    jobs,
    /** Null: the agent itself. */
    nameOf: (userId: string | null) => users.get(userId ?? "")?.name ?? "its own job",
  };
}

function crumbsAbove(org: string, cluster: Cluster | undefined, queue: Queue | undefined): Crumb[] {
  const crumbs: Crumb[] = [{ text: "Agents", path: pathTo(patterns.clustersPage, { org }), isList: true }];
  if (!cluster) return crumbs;
  const place = { org, cluster: cluster.id };
  crumbs.push({ text: cluster.name, path: pathTo(patterns.clusterPage, place) });
  if (queue && !queue.deletedAt)
    crumbs.push({ text: queue.key, path: pathTo(patterns.queuePage, { ...place, queue: queue.id }) });
  return crumbs;
}
