import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { requireAgent } from "../../../shared/agents/control.ts";
import { type AgentFilter, listAgentsPage, listPlacedJobs } from "../../../shared/agents/list-store.ts";
import type { Agent } from "../../../shared/agents/store.ts";
import { findClusterById } from "../../../shared/clusters/store.ts";
import type { ListedRows, ListPage } from "../../../shared/db/list-page.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { listQueuesById } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import type { MemberRequest } from "../ui/member-page.ts";

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

async function withContext({ db }: Services, agents: Agent[]) {
  const jobs = await listPlacedJobs(
    db,
    agents.map(({ jobId }) => jobId),
  );
  const queues = await listQueuesById(
    db,
    agents.map(({ queueId }) => queueId),
  );
  return { jobs, queues };
}

/** @throws Refusal 404 */
export function loadAgent({ db }: Services, { organization, parameter }: MemberRequest): Promise<Agent> {
  return requireAgent(db, organization.id, parameter("agent"));
}

export type AgentDetails = Awaited<ReturnType<typeof loadAgentDetails>>;

/** @throws Refusal 404 */
export async function loadAgentDetails(services: Services, request: MemberRequest) {
  const { db } = services;
  const agent = await loadAgent(services, request);
  const { jobs, queues } = await withContext(services, [agent]);
  const userIds = [agent.pausedById, agent.stopRequestedById].filter((id) => id !== null);
  const users = await listUsersById(db, userIds);
  return {
    agent,
    job: jobs.get(agent.jobId ?? ""),
    queue: queues.get(agent.queueId),
    cluster: await findClusterById(db, agent.clusterId),
    /** Null: the agent itself. */
    nameOf: (userId: string | null) => users.get(userId ?? "")?.name ?? "its own job",
  };
}

/** The agent's page, or one below it. */
export function agentPath(
  org: string,
  { id }: Pick<Agent, "id">,
  pattern: PatternWith<"org" | "agent"> = patterns.agentPage,
): string {
  return pathTo(pattern, { org, agent: id });
}
