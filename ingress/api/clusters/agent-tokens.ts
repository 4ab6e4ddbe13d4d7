import { z } from "zod";
import { agentTokenChange, agentTokenMembers, newAgentToken } from "../../../shared/agents/members.ts";
import { type AgentToken, listAgentTokensPage } from "../../../shared/agents/token-store.ts";
import {
  createAgentToken,
  requireAgentToken,
  revokeAgentToken,
  updateAgentToken,
} from "../../../shared/agents/tokens.ts";
import { requireCluster } from "../../../shared/clusters/clusters.ts";
import { patterns } from "../../../shared/paths.ts";
import * as field from "../../../shared/presenters/fields.ts";
import type { Services } from "../../../shared/services/services.ts";
import { api } from "../../../shared/settings/urls.ts";
import type { Operation } from "../../operations/operation.ts";
import { type AnswerMember, answerOf, created, declared, identified } from "../resources/answer.ts";
import { resourceOperations } from "../resources/operations.ts";

/** Right after it was created it has its secret. */
type ShownToken = AgentToken & { secret?: string };

const members: Record<string, AnswerMember<ShownToken>> = {
  ...identified("ClusterToken"),
  ...declared(agentTokenMembers),
  url: [
    field.url,
    ({ id, clusterId }, { config, org }) => api.agentToken(config, { org, cluster: clusterId, token: id }),
  ],
  cluster_url: [field.url, ({ clusterId }, { config, org }) => api.cluster(config, org, clusterId)],
  ...created,
  last_used_at: [field.timestamp.nullable(), ({ lastUsedAt }) => lastUsedAt],
};

const tokenAnswer = answerOf("ClusterToken", members);
const createdAnswer = answerOf<ShownToken>("CreatedClusterToken", {
  ...members,
  token: [z.string().meta({ description: "Shown only in this answer" }), ({ secret }) => secret],
});

export function agentTokenOperations(services: Services): Operation[] {
  const { db } = services;
  return resourceOperations(services, {
    tag: "Clusters",
    scopes: { reading: "read_clusters", writing: "write_clusters" },
    paths: { list: patterns.agentTokens, one: patterns.agentToken },
    json: tokenAnswer,
    ownerOf: ({ caller, parameter }) => requireCluster(db, caller.organization.id, parameter("cluster")),
    find: (cluster, { parameter }): Promise<ShownToken> =>
      requireAgentToken(services, cluster, parameter("token")),
    list: {
      id: "listClusterTokens",
      summary: "The tokens that register agents in a cluster, oldest first",
      answer: "A page of tokens",
      read: ({ id }, page) => listAgentTokensPage(db, id, page),
    },
    create: {
      id: "createClusterToken",
      summary: "Create a token that registers agents in a cluster",
      answer: "The new token",
      json: createdAnswer,
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
