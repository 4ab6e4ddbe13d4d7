import { defineHandler, type H3Event } from "h3";
import { z } from "zod";
import { finishJob } from "../../shared/agents/lease.ts";
import type { LeaseGroup } from "../../shared/agents/lease-group.ts";
import type { Services } from "../../shared/process/services.ts";
import { Refusal, unprocessable } from "../../shared/refusal.ts";
import { toStorable } from "../../shared/validation.ts";
import { hasSessionEnded } from "../auth/agent.ts";
import type { Attempts } from "../auth/attempts.ts";
import type { Bodies } from "../http/body.ts";
import { readJson } from "../http/json-body.ts";

/** Cut, not refused: after a refusal the agent forgets the job. */
const signalText = z
  .string()
  .transform((text) => toStorable(text.slice(0, 100)))
  .nullish();
const exitStatus = { error: "exit_status must be a whole number" };
export const finishBody = z.object({
  exit_status: z
    .union([z.string().regex(/^-?\d{1,10}$/), z.int()], exitStatus)
    .transform(Number)
    .refine((status) => Math.abs(status) < 2 ** 31, exitStatus),
  signal: signalText,
  signal_reason: signalText,
  finished_at: z.string().nullish(),
  chunks_failed_count: z.int().nullish(),
  ignore_agent_in_dispatches: z.boolean().nullish(),
});

/**
 * PUT /v3/jobs/:id/finish. Agents of version 3.20 repeat it until the answer is 2xx or 422: one that lost its job, or
 * whose session is over, would otherwise repeat it for ever.
 */
export function finishHandler(
  services: Services,
  { bodies, leases, attempts }: { bodies: Bodies; leases: LeaseGroup; attempts: Attempts },
) {
  const finish = async (event: H3Event) => {
    const attempt = await attempts.require(event);
    const given = await readJson(
      { event, bodies, organizationId: attempt.organizationId },
      { schema: finishBody, refuse: unprocessable },
    );
    const result = {
      exitStatus: given.exit_status,
      signal: given.signal ?? null,
      signalReason: given.signal_reason ?? null,
      isLast: given.ignore_agent_in_dispatches ?? false,
    };
    await finishJob(services, leases, { ...attempt, result });
  };

  return defineHandler(async (event) => {
    try {
      await finish(event);
    } catch (error) {
      throw (await isLeaseOver(services, event, error)) ? leaseOver() : error;
    }
    return {};
  });
}

async function isLeaseOver(services: Services, event: H3Event, error: unknown): Promise<boolean> {
  if (!(error instanceof Refusal)) return false;
  return error.status === 404 || (error.status === 401 && (await hasSessionEnded(services, event)));
}

/** One message for all jobs: it tells nobody whether a job exists. */
function leaseOver(): Refusal {
  return new Refusal(422, "The agent does not have this job, or no longer. Nothing was changed");
}
