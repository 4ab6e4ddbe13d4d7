import type { Build } from "../../builds/rows/build-store.ts";
import { isOfFork } from "../../builds/rows/facts.ts";
import type { Job } from "../../builds/rows/job-store.ts";
import type { Tx } from "../../db/database.ts";
import { queuesOfSteps, resolveStepQueues } from "../../pipelines/step-queues.ts";
import { findStoredSteps } from "../../pipelines/store.ts";
import { findQueueById } from "../../queues/store.ts";
import { excerpt, Refusal } from "../../refusal.ts";

interface Upload {
  /** The job that uploads. */
  job: Job;
  clusterId: string;
  added: Job[];
}

/**
 * Refuses jobs that a build of a fork uploads to queues that no step of its pipeline names, since their agents may see
 * more, and trigger steps, which would reach the queues of other pipelines. Jobs that their conditions leave out may be
 * there.
 * @throws Refusal 422
 */
export async function requireStayInPipeline(
  tx: Tx,
  build: Build,
  { job, clusterId, added }: Upload,
): Promise<void> {
  if (!isOfFork(build)) return;
  const running = added.filter(({ state }) => state !== "broken");
  if (running.some(({ type }) => type === "trigger"))
    throw new Refusal(422, "The build comes from a fork: it cannot upload steps that trigger builds");
  const steps = (await findStoredSteps(tx, { id: build.pipelineId }))?.steps ?? [];
  const allowed = queuesOfSteps(clusterId, steps, await resolveStepQueues(tx, [{ clusterId, steps }]));
  const other = running.find(
    // A variable of a stored step may have named the queue of the job itself.
    ({ queueId }) => queueId !== null && queueId !== job.queueId && !allowed.has(queueId),
  );
  if (!other?.queueId) return;
  const key = (await findQueueById(tx, other.queueId))?.key ?? "";
  throw new Refusal(
    422,
    `The build comes from a fork: it cannot upload steps to the queue ${excerpt(key)}, which no step of its pipeline names`,
  );
}
