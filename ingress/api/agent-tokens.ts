import { agentTokenChange, newAgentToken } from "../../shared/agents/members.ts";
import { type AgentToken, listAgentTokensPage } from "../../shared/agents/token-store.ts";
import {
  createAgentToken,
  requireAgentToken,
  revokeAgentToken,
  updateAgentToken,
} from "../../shared/agents/tokens.ts";
import { requireCluster } from "../../shared/clusters/clusters.ts";
import { patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/services/services.ts";
import type { Operation } from "../operations/operation.ts";
import { agentTokenSchema, createdAgentTokenSchema, presentAgentToken } from "./json/agent-token.ts";
import { resourceOperations } from "./resources/operations.ts";

export function agentTokenOperations(services: Services): Operation[] {
  const { db, config } = services;
  return resourceOperations(services, {
    tag: "Clusters",
    scopes: { reading: "read_clusters", writing: "write_clusters" },
    paths: { list: patterns.agentTokens, one: patterns.agentToken },
    schema: agentTokenSchema,
    ownerOf: ({ caller, parameter }) => requireCluster(db, caller.organization.id, parameter("cluster")),
    find: (cluster, { parameter }): Promise<AgentToken> =>
      requireAgentToken(services, cluster, parameter("token")),
    userIdsOf: ({ createdById }) => [createdById],
    present: (token, organization, users) => presentAgentToken(config, organization, token, users),
    list: {
      id: "listClusterTokens",
      summary: "The tokens that register agents in a cluster, oldest first",
      answer: "A page of tokens",
      read: ({ id }, page) => listAgentTokensPage(db, { clusterId: id }, page),
    },
    create: {
      id: "createClusterToken",
      summary: "Create a token that registers agents in a cluster",
      answer: "The new token",
      schema: createdAgentTokenSchema,
      body: newAgentToken,
      run: async ({ actor, readBody }, cluster) => {
        const { allowedIpAddresses: _, ...input } = await readBody();
        const { agentToken, token } = await createAgentToken(services, actor, cluster, input);
        return { ...agentToken, secret: token };
      },
    },
    get: { id: "getClusterToken", summary: "A token, without its secret", answer: "The token" },
    update: {
      id: "updateClusterToken",
      summary: "Change a token's description",
      answer: "The changed token",
      body: agentTokenChange,
      run: async ({ actor, readBody }, token) => {
        const { allowedIpAddresses: _, ...change } = await readBody();
        return updateAgentToken(services, actor, token, change);
      },
    },
    delete: {
      id: "revokeClusterToken",
      summary: "End registering with a token; agents that it registered go on",
      answer: "The token registers no more agents",
      run: ({ actor }, token) => revokeAgentToken(services, actor, token),
    },
  }).operations;
}
