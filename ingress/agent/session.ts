import { defineHandler, type H3Event } from "h3";
import { z } from "zod";
import { maxPauseMinutes, pauseAgent, resumeAgent, stopAgent } from "../../shared/agents/control.ts";
import type { HandOut, PingAnswer } from "../../shared/agents/hand-out.ts";
import { disconnectAgent, takeBackJobOf } from "../../shared/agents/lost.ts";
import { connectAgent, type Presence } from "../../shared/agents/presence.ts";
import { type Registration, registerAgent } from "../../shared/agents/register.ts";
import type { Services } from "../../shared/process/services.ts";
import { unprocessable } from "../../shared/refusal.ts";
import { text, toStorable } from "../../shared/validation.ts";
import {
  requireAgentOrJob,
  requireAgentSession,
  requireRegistrar,
  requireSessionToken,
  sessionEnded,
} from "../auth/agent.ts";
import type { Bodies } from "../http/body.ts";
import { clientIp, userAgent } from "../http/client-address.ts";
import { type JsonBody, readJson } from "../http/json-body.ts";
import { limitRegistrations } from "../http/limits.ts";
import { keepOutOfLog } from "../http/request-context.ts";

const maxTags = 100;
const line = (maxLength: number) =>
  z
    .string()
    .nullish()
    .transform((given) => toStorable((given ?? "").slice(0, maxLength)));

/** Agents of all versions send some of these. Long texts are cut: they are for people. */
export const registerBody = z
  .object({
    name: line(4096),
    hostname: line(255),
    os: line(4096),
    arch: line(100),
    version: line(100),
    build: line(100),
    pid: z.union([z.int(), z.string()]).nullish(),
    meta_data: z
      .array(z.string({ error: "meta_data must be a list of texts" }).max(255), {
        error: "meta_data must be a list of texts",
      })
      .max(maxTags, { error: `meta_data can have ${maxTags} tags at most` })
      .nullish(),
    priority: z.union([z.int(), z.string()]).nullish(),
    ignore_in_dispatches: z.boolean().nullish(),
  })
  .transform(({ meta_data, pid, priority, ignore_in_dispatches, ...texts }) => ({
    ...texts,
    metaData: (meta_data ?? []).map(toStorable),
    pid: pid == null ? null : toStorable(String(pid).slice(0, 20)),
    priority: parsePriority(priority),
    ignoreInDispatches: ignore_in_dispatches ?? false,
  }));

function parsePriority(given: string | number | null | undefined): number | null {
  const number = given == null || given === "" ? Number.NaN : Number(given);
  return Number.isSafeInteger(number) && Math.abs(number) < 2 ** 31 ? number : null;
}

export const heartbeatBody = z.object({ sent_at: z.string().max(100).nullish() });
export const stopBody = z.object({ force: z.boolean({ error: "force must be true or false" }).nullish() });
const pauseMinutes = { error: "timeout_in_minutes must be a whole number from 1 to 10080" };
export const pauseBody = z.object({
  note: text("note", 255).nullish(),
  timeout_in_minutes: z.int(pauseMinutes).min(1, pauseMinutes).max(maxPauseMinutes, pauseMinutes).nullish(),
});

export interface SessionParts {
  bodies: Bodies;
  handOut: HandOut;
  presence: Presence;
}

/** Handlers of an agent's session: `/v3/register`, `connect`, `ping`, … */
export function sessionHandlers(services: Services, { bodies, handOut, presence }: SessionParts) {
  const { config, clock } = services;
  const read = <T>(event: H3Event, organizationId: string, body: JsonBody<T>) =>
    readJson({ event, bodies, organizationId }, { refuse: unprocessable, ...body });

  return {
    register: defineHandler(async (event) => {
      const registrar = await requireRegistrar(services, event);
      await limitRegistrations(services, registrar.organization.id);
      const given = await read(event, registrar.organization.id, { schema: registerBody });
      const registration: Registration = { ...given, ip: clientIp(event), userAgent: userAgent(event) };
      const { agent, accessToken } = await registerAgent(services, registrar, registration);
      return {
        id: agent.id,
        name: agent.name,
        access_token: accessToken,
        ping_interval: config.agentPingSeconds,
        job_status_interval: config.agentStatusSeconds,
        heartbeat_interval: config.agentHeartbeatMs / 1000,
        meta_data: agent.metaData,
      };
    }),

    connect: defineHandler(async (event) => {
      await connectAgent(services, await requireAgentSession(services, event));
      return {};
    }),

    ping: defineHandler(async (event) => {
      const answer = await handOut.ping(requireSessionToken(services, event));
      if (answer.action === "unknown") throw sessionEnded(services);
      if (answer.action !== "run") keepOutOfLog(event);
      if (answer.action === "dropped") await takeBackDropped(services, answer);
      return presentPing(answer);
    }),

    heartbeat: defineHandler(async (event) => {
      const agent = await requireAgentSession(services, event);
      keepOutOfLog(event);
      const { sent_at } = await read(event, agent.organizationId, {
        schema: heartbeatBody,
        isOptional: true,
      });
      const receivedAt = clock.now();
      if (agent.state === "connected") presence.record(agent.id, receivedAt);
      else await connectAgent(services, agent);
      return { sent_at: sent_at ?? null, received_at: receivedAt };
    }),

    disconnect: defineHandler(async (event) => {
      await disconnectAgent(services, await requireAgentSession(services, event));
      return {};
    }),

    stop: defineHandler(async (event) => {
      const agent = await requireAgentOrJob(services, event);
      const { force } = await read(event, agent.organizationId, { schema: stopBody, isOptional: true });
      await stopAgent(services, null, agent, force ?? false);
      return {};
    }),

    pause: defineHandler(async (event) => {
      const agent = await requireAgentOrJob(services, event);
      const given = await read(event, agent.organizationId, { schema: pauseBody, isOptional: true });
      const minutes = given.timeout_in_minutes ?? null;
      await pauseAgent(services, null, agent, { note: given.note ?? null, minutes });
      return {};
    }),

    resume: defineHandler(async (event) => {
      await resumeAgent(services, null, await requireAgentOrJob(services, event));
      return {};
    }),

    /** The identity of a registration token. */
    token: defineHandler(async (event) => {
      const { token, organization, cluster, queue } = await requireRegistrar(services, event);
      return {
        uuid: token.id,
        description: token.description,
        token_type: "cluster",
        organization_slug: organization.slug,
        organization_uuid: organization.id,
        cluster_uuid: cluster.id,
        cluster_name: cluster.name,
        organization_queue_uuid: queue?.id ?? null,
        organization_queue_key: queue?.key ?? null,
      };
    }),
  };
}

async function takeBackDropped(
  services: Services,
  { agent, jobId }: Extract<PingAnswer, { action: "dropped" }>,
): Promise<void> {
  services.log.warn({ agentId: agent.id, jobId }, "an agent pings while it has a job: it dropped the job");
  await takeBackJobOf(services, agent, jobId, ({ acceptedAt }) => acceptedAt !== null);
}

function presentPing(answer: PingAnswer) {
  if (answer.action === "run") return { action: "run", job: { id: answer.jobId } };
  if (answer.action === "pause" || answer.action === "disconnect")
    return { action: answer.action, message: answer.message };
  return { action: "idle", job: null };
}
