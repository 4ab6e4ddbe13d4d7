import type { Command } from "commander";
import { findOrganizationById } from "../../shared/accounts/organization-store.ts";
import { asOperator } from "../../shared/accounts/organizations.ts";
import { findAgentTokenById, listAgentTokens } from "../../shared/agents/token-store.ts";
import { createAgentToken, revokeAgentToken, tokenDescription } from "../../shared/agents/tokens.ts";
import { type Cluster, findClusterById } from "../../shared/clusters/store.ts";
import { hourMs } from "../../shared/durations.ts";
import { findQueueByKey } from "../../shared/queues/store.ts";
import { notFound, validationFailed } from "../../shared/refusal.ts";
import type { Services } from "../../shared/runtime/services.ts";
import { problemsOf } from "../../shared/validation.ts";
import { type Act, noun, parseId, parsePositive } from "./command.ts";

const clusterOption = ["--cluster <id>", "the cluster's id", parseId] as const;

export function agentTokenCommands(act: Act): Command[] {
  const agentToken = noun("agent-token", "tokens that register agents");

  agentToken
    .command("create")
    .description("create a token that registers agents in a cluster; it is printed this once")
    .requiredOption(...clusterOption)
    .option("--queue <key>", "register agents of this queue only")
    .option("--description <text>", "what it is for", "")
    .option("--expires-in-hours <hours>", "end registering after this time", parsePositive)
    .action((options) => act((services) => create(services, options)));

  agentToken
    .command("list")
    .description("list the tokens of a cluster")
    .requiredOption(...clusterOption)
    .action(({ cluster }) =>
      act(async ({ db }) => ({
        tokens: (await listAgentTokens(db, cluster)).map((token) => ({
          id: token.id,
          description: token.description,
          queue_id: token.queueId,
          created_at: token.createdAt,
          expires_at: token.expiresAt,
          last_used_at: token.lastUsedAt,
        })),
      })),
    );

  agentToken
    .command("revoke")
    .description("end registering with a token; agents that it registered go on")
    .requiredOption("--id <id>", "the token's id", parseId)
    .action(({ id }) =>
      act(async (services) => {
        const token = await findAgentTokenById(services.db, id);
        const operator = token && (await operatorOf(services, token.organizationId));
        if (!operator) throw notFound("cluster token");
        await revokeAgentToken(services, operator, token);
        return { id, revoked: true };
      }),
    );
  return [agentToken];
}

interface CreateOptions {
  cluster: string;
  queue?: string;
  description: string;
  expiresInHours?: number;
}

async function create(services: Services, options: CreateOptions) {
  const { db, clock } = services;
  const { description, expiresInHours } = options;
  const problems = problemsOf(tokenDescription, description, "description");
  if (problems.length > 0) throw validationFailed(...problems);
  const cluster = await findClusterById(db, options.cluster);
  const operator = cluster && (await operatorOf(services, cluster.organizationId));
  if (!operator) throw notFound("cluster");
  const { agentToken, token } = await createAgentToken(services, operator, cluster, {
    description,
    queueId: options.queue === undefined ? null : await requireQueueId(services, cluster, options.queue),
    expiresAt:
      expiresInHours === undefined ? null : new Date(clock.now().getTime() + expiresInHours * hourMs),
  });
  return { id: agentToken.id, token };
}

async function requireQueueId({ db }: Services, cluster: Cluster, key: string): Promise<string> {
  const queue = await findQueueByKey(db, cluster.id, key);
  if (!queue) throw notFound("cluster queue");
  return queue.id;
}

async function operatorOf({ db }: Services, organizationId: string) {
  const organization = await findOrganizationById(db, organizationId);
  return organization && asOperator(db, organization);
}
