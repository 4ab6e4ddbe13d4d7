import type { Build } from "../../builds/rows/build-store.ts";
import { isOfFork } from "../../builds/rows/facts.ts";
import type { Job } from "../../builds/rows/job-store.ts";
import type { Tx } from "../../db/database.ts";
import { queuesOfSteps, resolveStepQueues } from "../../pipelines/step-queues.ts";
import { findStoredSteps } from "../../pipelines/store.ts";
import { findQueueById } from "../../queues/store.ts";
import { excerpt, Refusal } from "../../refusal.ts";
import { commandsOf, type Step, type StepOptions } from "../../vocabulary.ts";

interface Upload {
  /** The job that uploads. */
  job: Job;
  clusterId: string;
  added: Job[];
}

/**
 * Refuses jobs that a build of a fork uploads, and that would reach beyond its pipeline: to queues that no step of the
 * pipeline names, since their agents may see more; trigger steps, for the queues of other pipelines; and priorities and
 * concurrency groups by which a stranger could hold others up. Jobs that their conditions leave out may be there.
 * @throws Refusal 422
 */
export async function requireStayInPipeline(
  tx: Tx,
  build: Build,
  { job, clusterId, added }: Upload,
): Promise<void> {
  if (!isOfFork(build)) return;
  const running = added.filter(({ state }) => state !== "broken");
  if (running.some(({ type }) => type === "trigger")) throw cannotUpload("steps that trigger builds");
  const steps = await readStoredSteps(tx, build);
  await requireOwnQueues(tx, steps, { job, clusterId, added: running });
  const most = maxPriorityOf(steps);
  const urgent = running.find(({ priority }) => priority > most);
  if (urgent)
    throw cannotUpload(`steps of the priority ${urgent.priority}. The steps of its pipeline allow ${most}`);
  // A variable of a stored step may have named the group of the job itself.
  const allowed = new Set([...commandsOf(steps), job.options ?? {}].map(concurrencyOf));
  const limited = running.find(
    ({ options }) => options?.concurrency_group !== undefined && !allowed.has(concurrencyOf(options)),
  );
  if (limited)
    throw cannotUpload(
      `steps of the concurrency group ${excerpt(limited.options?.concurrency_group ?? "")}, unless a step of its pipeline has the same group and the same concurrency`,
    );
}

/**
 * Refuses a priority that a build of a fork gives a step, if no step of its pipeline has as high a one.
 * @throws Refusal 422
 */
export async function requirePriorityOfPipeline(tx: Tx, build: Build, priority: number): Promise<void> {
  if (!isOfFork(build)) return;
  const most = maxPriorityOf(await readStoredSteps(tx, build));
  if (priority > most)
    throw new Refusal(
      422,
      `The build comes from a fork: the steps of its pipeline allow the priority ${most}`,
    );
}

async function requireOwnQueues(tx: Tx, steps: Step[], { job, clusterId, added }: Upload): Promise<void> {
  const allowed = queuesOfSteps(clusterId, steps, await resolveStepQueues(tx, [{ clusterId, steps }]));
  const other = added.find(
    // A variable of a stored step may have named the queue of the job itself.
    ({ queueId }) => queueId !== null && queueId !== job.queueId && !allowed.has(queueId),
  );
  if (!other?.queueId) return;
  const key = (await findQueueById(tx, other.queueId))?.key ?? "";
  throw cannotUpload(`steps to the queue ${excerpt(key)}, which no step of its pipeline names`);
}

async function readStoredSteps(tx: Tx, { pipelineId }: Build): Promise<Step[]> {
  return (await findStoredSteps(tx, { id: pipelineId }))?.steps ?? [];
}

function maxPriorityOf(steps: Step[]): number {
  return Math.max(0, ...commandsOf(steps).map(({ priority = 0 }) => priority));
}

function concurrencyOf({ concurrency, concurrency_group, concurrency_method }: StepOptions): string {
  return JSON.stringify([concurrency, concurrency_group, concurrency_method]);
}

function cannotUpload(what: string): Refusal {
  return new Refusal(422, `The build comes from a fork: it cannot upload ${what}`);
}
