import type { H3Event } from "h3";
import { z } from "zod";
import { finishJob } from "../../shared/agents/lease.ts";
import type { LeaseBatches } from "../../shared/agents/lease-batches.ts";
import { patterns } from "../../shared/paths.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { hasSessionEnded } from "../auth/agent.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { countedStatus, exitStatus, flag, reportedText, unread } from "../operations/reported.ts";
import { done, tag } from "./answers.ts";

const maxSignalLength = 100;
const finish = z.object({
  exit_status: exitStatus,
  signal: reportedText(maxSignalLength),
  signal_reason: reportedText(maxSignalLength),
  finished_at: unread,
  chunks_failed_count: unread,
  ignore_agent_in_dispatches: flag,
});

/**
 * Agents of version 3.20 repeat the call until the answer is 2xx or 422: one that lost its job, or whose session is
 * over, would otherwise repeat it for ever.
 */
export function finishOperations(services: Services, leases: LeaseBatches): Operation[] {
  return [
    operation({
      tag,
      caller: "attempt",
      methods: ["PUT"],
      path: patterns.finishJob,
      id: "finishJob",
      summary: "Finish a job by the exit status of its command",
      description:
        "-1: the command never ran, or a signal ended it. A repeated call is answered as the first. " +
        "Never 404: old agents stop at 422 alone.",
      body: { schema: finish, isReport: true },
      success: done,
      refusals: { 422: ["The agent does not have this job, or no longer"] },
      run: async ({ attempt, readBody }) => {
        const given = await readBody();
        const result = {
          exitStatus: countedStatus(services, attempt.lease.jobId, given.exit_status),
          signal: given.signal,
          signalReason: given.signal_reason,
          isLast: given.ignore_agent_in_dispatches,
        };
        await finishJob(services, leases, { ...attempt, result });
        return {};
      },
      translate: async (refusal, event) =>
        (await isLeaseOver(services, event, refusal)) ? leaseOver() : refusal,
    }),
  ];
}

async function isLeaseOver(services: Services, event: H3Event, { status }: Refusal): Promise<boolean> {
  return status === 404 || (status === 401 && (await hasSessionEnded(services, event)));
}

/** One message for all jobs: it tells nobody whether a job exists. */
function leaseOver(): Refusal {
  return new Refusal(422, "The agent does not have this job, or no longer. Nothing was changed");
}
