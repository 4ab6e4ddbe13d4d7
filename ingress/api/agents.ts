import type { H3Event } from "h3";
import { z } from "zod";
import type { Organization } from "../../shared/accounts/organization-store.ts";
import { pauseAgent, requireAgent, resumeAgent, stopAgent } from "../../shared/agents/control.ts";
import { type AgentFilter, listAgentsPage } from "../../shared/agents/list-store.ts";
import { agentPause } from "../../shared/agents/members.ts";
import type { Agent } from "../../shared/agents/store.ts";
import { isId } from "../../shared/ids.ts";
import { patterns } from "../../shared/paths.ts";
import { agentSchema } from "../../shared/presenters/agent.ts";
import { presentAgents } from "../../shared/presenters/load-agents.ts";
import { unprocessable } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { isStorable } from "../../shared/validation.ts";
import { readPage } from "../http/number-pager.ts";
import { type Call, type Operation, operation } from "../operations/operation.ts";
import { linkPages, pageQuery } from "./json/list.ts";

const tag = "Agents";
const reading = { tag, scope: "read_agents" as const };
const writing = { tag, scope: "write_agents" as const };

const stopBody = z.object({
  force: z
    .boolean({ error: "Force must be true or false" })
    .nullish()
    .meta({ description: "Cancel its job too, instead of letting it finish" }),
});
const filterQuery = {
  name: z.string().meta({ description: "Only agents of this name" }),
  hostname: z.string().meta({ description: "Only agents on this host" }),
  version: z.string().meta({ description: "Only agents of this version" }),
  cluster_queue_id: z.string().meta({ description: "Only agents of this queue" }),
};
/** No queue has this id. */
const noId = "00000000-0000-0000-0000-000000000000";

function readFilter({ url: { searchParams } }: H3Event): Omit<AgentFilter, "organizationId"> {
  const text = (name: keyof typeof filterQuery) => {
    const value = searchParams.get(name);
    return value ? (isStorable(value) ? value : "") : undefined;
  };
  const queueId = text("cluster_queue_id");
  return {
    name: text("name"),
    hostname: text("hostname"),
    version: text("version"),
    queueId: queueId === undefined || isId(queueId) ? queueId : noId,
  };
}

export function agentOperations(services: Services): Operation[] {
  const { db, config } = services;

  const agentOf = ({ caller, parameter }: Pick<Call<unknown>, "caller" | "parameter">) =>
    requireAgent(db, caller.organization.id, parameter("agent"));
  const present = (organization: Organization, agents: Agent[]) =>
    presentAgents(services, organization, agents);
  const presentOne = async (organization: Organization, agent: Agent) =>
    (await present(organization, [agent]))[0];

  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.agents,
      id: "listAgents",
      summary: "The connected and lost agents of an organization, oldest first",
      query: { ...pageQuery, ...filterQuery },
      success: { status: 200, schema: z.array(agentSchema), description: "A page of agents" },
      run: async ({ event, caller: { organization } }) => {
        const page = readPage(event);
        const filter = { organizationId: organization.id, ...readFilter(event) };
        const list = await listAgentsPage(db, filter, page);
        linkPages(event, { ...list, page }, config.baseUrl);
        return present(organization, list.rows);
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.agent,
      id: "getAgent",
      summary: "An agent",
      success: { status: 200, schema: agentSchema, description: "The agent" },
      run: async (call) => presentOne(call.caller.organization, await agentOf(call)),
    }),
    operation({
      ...writing,
      methods: ["PUT"],
      path: patterns.stopAgent,
      id: "stopAgent",
      summary: "Ask an agent to stop after its job",
      body: { schema: stopBody, isOptional: true, refuse: unprocessable },
      success: { status: 200, schema: agentSchema, description: "The agent" },
      refusals: { 422: ["Agent has disconnected"] },
      run: async (call) => {
        const agent = await agentOf(call);
        const { force } = await call.readBody();
        const stopped = await stopAgent(services, call.actor, agent, force ?? false);
        return presentOne(call.caller.organization, stopped);
      },
    }),
    operation({
      ...writing,
      methods: ["PUT"],
      path: patterns.pauseAgent,
      id: "pauseAgent",
      summary: "Let an agent take no further job; the one that it has goes on",
      body: { schema: agentPause, isOptional: true, refuse: unprocessable },
      success: { status: 200, schema: agentSchema, description: "The paused agent" },
      refusals: { 422: ["Agent is already paused", "Agent has disconnected"] },
      run: async (call) => {
        const agent = await agentOf(call);
        const { note, timeout_in_minutes } = await call.readBody();
        const pause = { note: note || null, minutes: timeout_in_minutes ?? null };
        return presentOne(call.caller.organization, await pauseAgent(services, call.actor, agent, pause));
      },
    }),
    operation({
      ...writing,
      methods: ["PUT"],
      path: patterns.resumeAgent,
      id: "resumeAgent",
      summary: "Let an agent take jobs again",
      success: { status: 200, schema: agentSchema, description: "The agent" },
      refusals: { 422: ["Agent is not paused", "Agent has disconnected"] },
      run: async (call) => {
        const resumed = await resumeAgent(services, call.actor, await agentOf(call));
        return presentOne(call.caller.organization, resumed);
      },
    }),
  ];
}
