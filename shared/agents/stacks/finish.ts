import type { Build } from "../../builds/rows/build-store.ts";
import type { Job, JobFacts } from "../../builds/rows/job-store.ts";
import { findJob, lockBuilds } from "../../builds/rows/progress-store.ts";
import type { Tx } from "../../db/database.ts";
import { notFound, Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { writes } from "../../sharing/resources.ts";
import { endingOf, report, settleEnded } from "../lease.ts";
import { endIfUntaken, type JobInQueue } from "./job-store.ts";
import { type LastLine, lastLine, writeLastLine } from "./last-line.ts";
import type { Stack } from "./store.ts";

export interface StackResult {
  exitStatus: number;
  /** For people. */
  detail: string;
}

/**
 * Ends a job that no agent has, by the word of a stack. A repeated call changes nothing.
 * @throws Refusal 404, 409 if an agent or another stack has the job, or it waits or has finished
 */
export async function finishByStack(
  services: Services,
  stack: Stack,
  { id, buildId }: JobInQueue,
  result: StackResult,
): Promise<void> {
  const line = await lastLine(stack.organizationId, result.detail);
  const finish = () => services.db.transaction((tx) => finishIn(tx, { stack, id, buildId, result, line }));
  const { build, changed } = await writes.take(stack.organizationId, finish);
  report(services, build, changed);
}

async function finishIn(
  tx: Tx,
  {
    stack,
    id,
    buildId,
    result: { exitStatus, detail },
    line,
  }: { stack: Stack; id: string; buildId: string; result: StackResult; line: LastLine },
): Promise<{ build: Build; changed: JobFacts[] }> {
  const [build] = await lockBuilds(tx, [buildId]);
  if (!build) throw notFound("job");
  const ending = {
    ...endingOf({ exitStatus, signal: null, signalReason: exitStatus === 0 ? null : "stack_error" }),
    failureReason: detail,
  };
  const ended = await endIfUntaken(tx, id, { stackId: stack.id, ending, now: tx.now });
  if (!ended) {
    const job = await findJob(tx, id);
    if (job && isEndedBy(job, stack, exitStatus)) return { build, changed: [] };
    throw new Refusal(
      409,
      "The job cannot be finished: an agent or another stack has it, or it waits or has finished",
    );
  }
  await writeLastLine(tx, { jobId: id, attempt: ended.attempt, organizationId: stack.organizationId }, line);
  return { build, changed: await settleEnded(tx, build, ended, tx.now) };
}

/** Clients repeat a call whose answer was lost. */
function isEndedBy({ state, stackId, agentId, exitStatus }: Job, stack: Stack, given: number): boolean {
  const isEnded = state === "passed" || state === "failed";
  return isEnded && stackId === stack.id && agentId === null && exitStatus === given;
}
