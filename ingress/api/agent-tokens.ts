import { z } from "zod";
import type { Organization } from "../../shared/accounts/organization-store.ts";
import { listUsersById } from "../../shared/accounts/user-store.ts";
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
import { readPage } from "../http/number-pager.ts";
import { type Call, type Operation, operation } from "../operations/operation.ts";
import {
  agentTokenSchema,
  createAgentTokenBody,
  createdAgentTokenSchema,
  presentAgentToken,
  updateAgentTokenBody,
} from "./json/agent-token.ts";
import { linkPages, pageQuery } from "./json/list.ts";

const tag = "Clusters";
const reading = { tag, scope: "read_clusters" as const };
const writing = { tag, scope: "write_clusters" as const, needsAdmin: true };

export function agentTokenOperations(services: Services): Operation[] {
  const { db, config } = services;

  const clusterOf = ({ caller, parameter }: Pick<Call<unknown>, "caller" | "parameter">) =>
    requireCluster(db, caller.organization.id, parameter("cluster"));
  const tokenOf = async (call: Pick<Call<unknown>, "caller" | "parameter">) =>
    requireAgentToken(services, await clusterOf(call), call.parameter("token"));
  const present = async (organization: Organization, tokens: AgentToken[]) => {
    const users = await listUsersById(
      db,
      tokens.map(({ createdById }) => createdById),
    );
    return tokens.map((token) => presentAgentToken(config, organization, token, users));
  };
  const presentOne = async (organization: Organization, token: AgentToken) =>
    (await present(organization, [token]))[0];

  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.agentTokens,
      id: "listClusterTokens",
      summary: "The tokens that register agents in a cluster, oldest first",
      query: pageQuery,
      success: { status: 200, schema: z.array(agentTokenSchema), description: "A page of tokens" },
      run: async (call) => {
        const cluster = await clusterOf(call);
        const page = readPage(call.event);
        const list = await listAgentTokensPage(db, cluster.id, page);
        linkPages(call.event, { ...list, page }, config.baseUrl);
        return present(call.caller.organization, list.rows);
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.agentTokens,
      id: "createClusterToken",
      summary: "Create a token that registers agents in a cluster",
      body: { schema: createAgentTokenBody },
      success: { status: 201, schema: createdAgentTokenSchema, description: "The new token" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const cluster = await clusterOf(call);
        const input = await call.readBody();
        const { agentToken, token } = await createAgentToken(services, call.actor, cluster, input);
        return { ...(await presentOne(call.caller.organization, agentToken)), token };
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.agentToken,
      id: "getClusterToken",
      summary: "A token, without its secret",
      success: { status: 200, schema: agentTokenSchema, description: "The token" },
      run: async (call) => presentOne(call.caller.organization, await tokenOf(call)),
    }),
    operation({
      ...writing,
      methods: ["PUT", "PATCH"],
      path: patterns.agentToken,
      id: "updateClusterToken",
      summary: "Change a token's description",
      body: { schema: updateAgentTokenBody },
      success: { status: 200, schema: agentTokenSchema, description: "The changed token" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const token = await tokenOf(call);
        const updated = await updateAgentToken(services, call.actor, token, await call.readBody());
        return presentOne(call.caller.organization, updated);
      },
    }),
    operation({
      ...writing,
      methods: ["DELETE"],
      path: patterns.agentToken,
      id: "revokeClusterToken",
      summary: "End registering with a token; agents that it registered go on",
      success: { status: 204, description: "The token registers no more agents" },
      run: async (call) => revokeAgentToken(services, call.actor, await tokenOf(call)),
    }),
  ];
}
