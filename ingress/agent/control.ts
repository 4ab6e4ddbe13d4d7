import { z } from "zod";
import { pauseAgent, resumeAgent, stopAgent } from "../../shared/agents/control.ts";
import { agentPause } from "../../shared/agents/members.ts";
import { patterns } from "../../shared/paths.ts";
import { unprocessable } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { done, tag } from "./answers.ts";

const stop = z.object({ force: z.boolean({ error: "force must be true or false" }).nullish() });

/** The calls by which an agent, or a program in its job, stops and pauses it. */
export function controlOperations(services: Services): Operation[] {
  return [
    operation({
      tag,
      caller: "agentOrJob",
      methods: ["POST"],
      path: patterns.agentStop,
      id: "stopOwnAgent",
      summary: "Stop the agent after its job",
      description: "`force` cancels the job too.",
      body: { schema: stop, isOptional: true, refuse: unprocessable },
      success: done,
      refusals: { 422: ["the agent has disconnected"] },
      run: async ({ agent, readBody }) => {
        const { force } = await readBody();
        await stopAgent(services, null, agent, force ?? false);
        return {};
      },
    }),
    operation({
      tag,
      caller: "agentOrJob",
      methods: ["POST"],
      path: patterns.agentPause,
      id: "pauseOwnAgent",
      summary: "Pause the agent",
      body: { schema: agentPause, isOptional: true, refuse: unprocessable },
      success: done,
      refusals: { 422: ["the agent is paused"] },
      run: async ({ agent, readBody }) => {
        const { note, timeout_in_minutes } = await readBody();
        await pauseAgent(services, null, agent, { note: note ?? null, minutes: timeout_in_minutes ?? null });
        return {};
      },
    }),
    operation({
      tag,
      caller: "agentOrJob",
      methods: ["POST"],
      path: patterns.agentResume,
      id: "resumeOwnAgent",
      summary: "Resume the agent",
      success: done,
      refusals: { 422: ["The agent is not paused"] },
      run: async ({ agent }) => {
        await resumeAgent(services, null, agent);
        return {};
      },
    }),
  ];
}
