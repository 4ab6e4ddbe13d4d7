import type { Organization } from "../accounts/organization-store.ts";
import { listUsersById } from "../accounts/user-store.ts";
import { listJobsWithOwners } from "../agents/list-store.ts";
import type { Agent } from "../agents/store.ts";
import { listQueuesById } from "../queues/store.ts";
import type { Services } from "../services/services.ts";
import { presentAgent } from "./agent.ts";

/** Presents agents with their jobs, and reads all that these name. */
export async function presentAgents(
  { db, config, clock }: Pick<Services, "db" | "config" | "clock">,
  { slug }: Organization,
  agents: Agent[],
): Promise<ReturnType<typeof presentAgent>[]> {
  const context = {
    config,
    org: slug,
    now: clock.now(),
    users: await listUsersById(
      db,
      agents.flatMap(({ pausedById }) => pausedById ?? []),
    ),
    jobs: await listJobsWithOwners(
      db,
      agents.map(({ jobId }) => jobId),
    ),
    queues: await listQueuesById(
      db,
      agents.map(({ queueId }) => queueId),
    ),
  };
  return agents.map((agent) => presentAgent(context, agent));
}
