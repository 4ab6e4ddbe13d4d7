import { z } from "zod";
import { type HandOut, isDropped, type PingAnswer } from "../../shared/agents/hand-out/hand-out.ts";
import { disconnectAgent, takeBackJobOf } from "../../shared/agents/lost.ts";
import type { Presence } from "../../shared/agents/presence.ts";
import { patterns } from "../../shared/paths.ts";
import * as field from "../../shared/presenters/fields.ts";
import type { Services } from "../../shared/services/services.ts";
import { sessionEnded } from "../auth/agent.ts";
import { keepOutOfLog } from "../http/request-context.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { reportedText } from "../operations/reported.ts";
import { answer, done, tag } from "./answers.ts";

const pinged = z.object({
  action: z.enum(["run", "idle", "pause", "disconnect"]),
  job: z.object({ id: field.id }).nullish(),
  message: z.string().optional(),
});
const heartbeat = z.object({ sent_at: reportedText(100) });
const heard = z.object({ sent_at: z.string().nullable(), received_at: field.timestamp });

/** The calls of an agent's session, from connect to disconnect. */
export function sessionOperations(
  services: Services,
  { handOut, presence }: { handOut: HandOut; presence: Presence },
): Operation[] {
  return [
    operation({
      tag,
      caller: "session",
      methods: ["POST"],
      path: patterns.agentConnect,
      id: "connectAgent",
      summary: "Connect an agent",
      success: done,
      run: async ({ agent }) => {
        await presence.connect(agent);
        return {};
      },
    }),
    operation({
      tag,
      caller: "pinging",
      methods: ["GET"],
      path: patterns.agentPing,
      id: "pingAgent",
      summary: "Ask for a job",
      description:
        "A job is offered at every ping until the agent accepts it. After `JOB_OFFER_SECONDS` others come before it.",
      success: answer(pinged),
      run: async ({ sessionToken, event }) => {
        const found = await handOut.ping(sessionToken);
        if (found.action === "unknown") throw sessionEnded(services);
        if (found.action !== "run") keepOutOfLog(event);
        if (found.action === "dropped") await takeBackDropped(services, found);
        return presentPing(found);
      },
    }),
    operation({
      tag,
      caller: "session",
      methods: ["POST"],
      path: patterns.agentHeartbeat,
      id: "heartbeatAgent",
      summary: "Send a heartbeat",
      body: { schema: heartbeat, isReport: true },
      success: answer(heard),
      isQuiet: true,
      run: async ({ agent, readBody }) => {
        const { sent_at } = await readBody();
        const receivedAt = services.clock.now();
        if (agent.state === "connected") presence.record(agent.id);
        else await presence.connect(agent);
        return { sent_at, received_at: receivedAt };
      },
    }),
    operation({
      tag,
      caller: "session",
      methods: ["POST"],
      path: patterns.agentDisconnect,
      id: "disconnectAgent",
      summary: "End a session",
      success: done,
      run: async ({ agent }) => {
        await disconnectAgent(services, agent);
        return {};
      },
    }),
  ];
}

async function takeBackDropped(
  services: Services,
  { agent, jobId }: Extract<PingAnswer, { action: "dropped" }>,
): Promise<void> {
  services.log.warn({ agentId: agent.id, jobId }, "an agent pings while it has a job: it dropped the job");
  const now = services.clock.now();
  await takeBackJobOf(services, agent, jobId, (job) => isDropped(job, now));
}

function presentPing(found: PingAnswer) {
  if (found.action === "run") return { action: "run", job: { id: found.jobId } };
  if (found.action === "pause" || found.action === "disconnect")
    return { action: found.action, message: found.message };
  return { action: "idle", job: null };
}
