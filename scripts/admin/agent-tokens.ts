import type { Command } from "commander";
import { findOrganizationById } from "../../shared/accounts/organization-store.ts";
import { asOperator } from "../../shared/accounts/organizations.ts";
import { newAgentToken } from "../../shared/agents/members.ts";
import { type AgentToken, findAgentTokenById, listAgentTokens } from "../../shared/agents/token-store.ts";
import { createAgentToken, revokeAgentToken } from "../../shared/agents/tokens.ts";
import { hourMs } from "../../shared/durations.ts";
import type { Services } from "../../shared/services/services.ts";
import { type Act, newCommand, parseHours, parseId, requireValid } from "./command.ts";
import { type ClusterOptions, namedCluster, namedQueue, noneFound, withCluster } from "./find.ts";

export function agentTokenCommands(act: Act): Command[] {
  const agentToken = newCommand("agent-token", "tokens that register agents");

  withCluster(agentToken.command("create"))
    .description("create a token that registers agents in a cluster; it is printed this once")
    .option("--queue <key>", "register agents of this queue only")
    .option("--description <text>", "its purpose", "")
    .option("--expires-in-hours <hours>", "end registering after this time", parseHours)
    .action((options) => act((services) => create(services, options)));

  withCluster(agentToken.command("list"))
    .description("list the tokens of a cluster")
    .action((options) =>
      act(async ({ db }) => {
        const { cluster } = await namedCluster(db, options);
        return { tokens: (await listAgentTokens(db, cluster.id)).map(summary) };
      }),
    );

  agentToken
    .command("revoke")
    .description("end registering with a token; agents that it registered go on")
    .requiredOption("--id <id>", "the token's id", parseId)
    .action(({ id }) =>
      act(async (services) => {
        const token = await findAgentTokenById(services.db, id);
        const owner = token && (await findOrganizationById(services.db, token.organizationId));
        if (!owner) throw noneFound("agent token", id);
        const operator = await asOperator(services.db, owner);
        await revokeAgentToken(services, operator, token);
        return { id, revoked: true };
      }),
    );
  return [agentToken];
}

interface CreateOptions extends ClusterOptions {
  queue?: string;
  description: string;
  expiresInHours?: number;
}

async function create(services: Services, options: CreateOptions) {
  const { db, clock } = services;
  const { description, expiresInHours, queue } = options;
  const { allowedIpAddresses: _, ...input } = requireValid(newAgentToken, { description });
  const { operator, cluster } = await namedCluster(db, options);
  const { agentToken, token } = await createAgentToken(services, operator, cluster, {
    ...input,
    queueId: queue === undefined ? null : (await namedQueue(db, { ...options, queue })).queue.id,
    expiresAt:
      expiresInHours === undefined ? null : new Date(clock.now().getTime() + expiresInHours * hourMs),
  });
  return { id: agentToken.id, token };
}

function summary(token: AgentToken) {
  return {
    id: token.id,
    description: token.description,
    queue_id: token.queueId,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
  };
}
