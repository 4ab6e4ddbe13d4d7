import { z } from "zod";
import { maxTags, openRegister } from "../../shared/agents/register.ts";
import { patterns } from "../../shared/paths.ts";
import * as field from "../../shared/presenters/fields.ts";
import { unprocessable } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { toStorable } from "../../shared/validation.ts";
import { clientIp, userAgent } from "../http/client-address.ts";
import { limitCalls } from "../http/limits/limits.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { flag, reportedText } from "../operations/reported.ts";
import { answer, tag } from "./answers.ts";

const line = (maxLength: number) => reportedText(maxLength).transform((given) => given ?? "");
const tagText = z.union([z.string(), z.number().transform(String)], "meta_data must be a list of texts");

/** Agents of all versions send some of these. Long texts are cut: they are for people. */
const registration = z
  .object({
    name: line(4096),
    hostname: line(255),
    os: line(4096),
    arch: line(100),
    version: line(100),
    build: line(100),
    pid: reportedText(20),
    meta_data: z
      .array(tagText, { error: "meta_data must be a list of texts" })
      .max(maxTags, { error: `meta_data can have ${maxTags} tags at most` })
      .nullish(),
    priority: reportedText(20),
    ignore_in_dispatches: flag,
  })
  .transform(({ meta_data, pid, priority, ignore_in_dispatches, ...texts }) => ({
    ...texts,
    metaData: (meta_data ?? []).map(toStorable),
    pid,
    priority: parsePriority(priority),
    ignoreInDispatches: ignore_in_dispatches,
  }));

function parsePriority(given: string | null): number | null {
  const number = given === null || given.trim() === "" ? Number.NaN : Number(given);
  return Number.isSafeInteger(number) && Math.abs(number) < 2 ** 31 ? number : null;
}

const seconds = z.int().min(1).meta({ description: "Seconds" });
const registered = z.object({
  id: field.id,
  name: z.string(),
  access_token: z.string().meta({ description: "The session token, for the agent's further calls" }),
  ping_interval: seconds,
  job_status_interval: seconds,
  heartbeat_interval: seconds,
  meta_data: z.array(z.string()),
});

const identity = z.object({
  uuid: field.id,
  description: z.string(),
  token_type: z.literal("cluster"),
  organization_slug: z.string(),
  organization_uuid: field.id,
  cluster_uuid: field.id,
  cluster_name: z.string(),
  organization_queue_uuid: field.id.nullable(),
  organization_queue_key: z.string().nullable(),
});

/** The calls with a registration token. */
export function registerOperations(services: Services): Operation[] {
  const { config } = services;
  const register = openRegister(services);
  return [
    operation({
      tag,
      caller: "registrar",
      methods: ["POST"],
      path: patterns.agentRegister,
      id: "registerAgent",
      summary: "Register an agent",
      description:
        "The tag `queue=<key>` names its queue. Default: the token's queue, else the cluster's default.",
      body: { schema: registration, refuse: unprocessable },
      success: answer(registered),
      refusals: { 429: ["Too many agents registered: wait as Retry-After says"] },
      run: async ({ registrar, organizationId, event, readBody }) => {
        await limitCalls(services, "registrations", organizationId);
        const given = { ...(await readBody()), ip: clientIp(event), userAgent: userAgent(event) };
        const { agent, accessToken } = await register(registrar, given);
        return {
          id: agent.id,
          name: agent.name,
          access_token: accessToken,
          ping_interval: config.agentPingSeconds,
          job_status_interval: config.agentStatusSeconds,
          heartbeat_interval: config.agentHeartbeatMs / 1000,
          meta_data: agent.metaData,
        };
      },
    }),
    operation({
      tag,
      caller: "registrar",
      methods: ["GET"],
      path: patterns.agentIdentity,
      id: "getAgentTokenIdentity",
      summary: "Get the identity of a registration token",
      success: answer(identity),
      run: async ({ registrar: { token, organization, cluster, queue } }) => ({
        uuid: token.id,
        description: token.description,
        token_type: "cluster",
        organization_slug: organization.slug,
        organization_uuid: organization.id,
        cluster_uuid: cluster.id,
        cluster_name: cluster.name,
        organization_queue_uuid: queue?.id ?? null,
        organization_queue_key: queue?.key ?? null,
      }),
    }),
  ];
}
