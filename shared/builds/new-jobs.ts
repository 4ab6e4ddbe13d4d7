import { newIds } from "../ids.ts";
import type { QueueOfStep } from "../pipelines/step-queues.ts";
import { countJobs } from "../pipelines/steps.ts";
import { type CommandStep, isCommandStep, type Step, type WaitStep } from "../vocabulary.ts";
import type { Job } from "./job-store.ts";
import type { Build } from "./store.ts";

/** The cluster whose queues run new jobs, and their position behind the jobs of the build so far. */
export interface Insertion {
  clusterId: string;
  /** The position of the first new job. */
  position: number;
  /** True behind a `wait` that was not reached. */
  isWaiting: boolean;
}

/** Makes the jobs of steps, in their order. Jobs behind a `wait` wait for those before it. */
export function newJobs(
  build: Pick<Build, "id">,
  steps: Step[],
  queueOf: QueueOfStep,
  { clusterId, position, isWaiting, createdAt }: Insertion & { createdAt: Date },
): Job[] {
  const ids = newIds(createdAt, countJobs(steps));
  const jobs: Job[] = [];
  const add = (part: Partial<Job>) => {
    const index = jobs.length;
    const first = { id: ids[index] as string, buildId: build.id, createdAt };
    const state = isWaiting ? "waiting" : "scheduled";
    const scheduledAt = isWaiting ? null : createdAt;
    jobs.push({ ...newScriptJob(first), position: position + index, state, scheduledAt, ...part });
  };

  let isFirst = position === 0;
  for (const step of steps) {
    if (isCommandStep(step)) {
      addJobsOfStep(add, step, queueOf(clusterId, step) as string, ids[jobs.length] as string);
      isFirst = false;
    } else {
      // Before all jobs, there is nothing to wait for.
      addWaiter(add, step, isFirst ? { state: "passed", finishedAt: createdAt } : { state: "waiting" });
      isWaiting ||= !isFirst;
    }
  }
  return jobs;
}

function addJobsOfStep(
  add: (part: Partial<Job>) => void,
  { command, label, agents: _, parallelism, ...kept }: CommandStep,
  queueId: string,
  stepId: string,
): void {
  const total = parallelism ?? 1;
  for (let index = 0; index < total; index++) {
    const options = parallelism ? { ...kept, parallel: { index, total } } : kept;
    const isPlain = Object.keys(options).length === 0;
    add({ queueId, command, label: label ?? null, options: isPlain ? null : options, stepId });
  }
}

function addWaiter(
  add: (part: Partial<Job>) => void,
  { continue_on_failure }: WaitStep,
  state: Partial<Job>,
): void {
  const options = continue_on_failure ? { continue_on_failure } : null;
  add({ type: "waiter", options, scheduledAt: null, ...state });
}

/** A scheduled job of one step, with everything else absent. */
export function newScriptJob({ id, buildId, createdAt }: Pick<Job, "id" | "buildId" | "createdAt">): Job {
  return {
    id,
    buildId,
    type: "script",
    queueId: null,
    stepId: id,
    position: 0,
    label: null,
    command: null,
    options: null,
    state: "scheduled",
    exitStatus: null,
    signal: null,
    signalReason: null,
    failureReason: null,
    softFailed: false,
    dispatchPausedAt: null,
    agentId: null,
    attempt: 0,
    retryOfJobId: null,
    retriedInJobId: null,
    retryType: null,
    retriesCount: 0,
    createdAt,
    scheduledAt: createdAt,
    assignedAt: null,
    acceptedAt: null,
    startedAt: null,
    finishedAt: null,
    timesOutAt: null,
  };
}
