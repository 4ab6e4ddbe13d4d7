import type { DraftedJob, Expansion } from "../../graph/expand.ts";
import { decideProgress, type Progress } from "../../graph/progress.ts";
import { isList } from "../../graph/tree.ts";
import { agentRules } from "../../pipelines/agent-rules.ts";
import type { QueueOfStep } from "../../pipelines/step-queues.ts";
import {
  type BuildState,
  isCommandStep,
  isManualStep,
  isTriggerStep,
  type JobState,
  type PlainStep,
} from "../../vocabulary.ts";
import { blockedState } from "../progress/blocked.ts";
import type { Build } from "../rows/build-store.ts";
import type { Job } from "../rows/job-store.ts";
import { queuelessReason } from "../rows/queue-again.ts";

/** Where new jobs run, and their place in the build and in their queues. */
export interface Insertion {
  clusterId: string;
  /** The position of the first new job. */
  position: number;
  arrivedAt: Date | null;
  createdAt: Date;
}

/** Makes the jobs of steps, in their order. All of them wait, but for those that are left out. */
export function newJobs(
  build: Pick<Build, "id">,
  drafted: DraftedJob[],
  queueOf: QueueOfStep,
  insertion: Insertion,
): Job[] {
  return drafted.map((draft, index) => {
    const { clusterId, position, arrivedAt, createdAt } = insertion;
    const { id, stepId, broken } = draft;
    const isBroken = broken !== undefined;
    return {
      ...newScriptJob({ id, buildId: build.id, createdAt }),
      stepId,
      position: position + index,
      arrivedAt,
      scheduledAt: null,
      ...(isBroken ? { state: "broken", brokenReason: broken, finishedAt: createdAt } : { state: "waiting" }),
      ...membersOf(draft, queueOf, clusterId),
    };
  });
}

function membersOf(
  { step, group, parallel, matrix, signed }: DraftedJob,
  queueOf: QueueOfStep,
  clusterId: string,
): Partial<Job> {
  const label = step.label ?? null;
  const { key } = step;
  if (isManualStep(step)) {
    const { type, prompt, submit, fields, blocked_state, allowed_teams } = step;
    const manual = present({ type, prompt, submit, fields, blocked_state, allowed_teams });
    return { type: "manual", label, options: present({ key, group, manual }) };
  }
  if (isTriggerStep(step)) {
    const { trigger, build, async, soft_fail } = step;
    const options = { key, group, soft_fail, parallel, trigger: present({ trigger, build, async }) };
    return { type: "trigger", label, options: present(options) };
  }
  if (!isCommandStep(step)) {
    const { continue_on_failure } = step;
    return { type: "waiter", label, options: orNull(present({ key, continue_on_failure, group })) };
  }
  const { env, timeout_in_minutes, soft_fail, retry, plugins, image, signature } = step;
  const { concurrency, concurrency_group, concurrency_method, cancel_on_build_failing } = step;
  const { artifact_paths, secrets, checkout, notify } = step;
  const queueId = queueOf(clusterId, step);
  const options = {
    key,
    env,
    timeout_in_minutes,
    soft_fail,
    retry,
    plugins,
    image,
    signature,
    concurrency,
    concurrency_group,
    concurrency_method,
    cancel_on_build_failing,
    artifact_paths,
    secrets,
    checkout,
    notify,
    parallel,
    matrix,
    signed,
    group,
    ...(queueId === undefined && { queue: step.agents?.queue ?? "" }),
  };
  return {
    queueId: queueId ?? null,
    ...(queueId === undefined && { failureReason: queuelessReason(step.agents?.queue ?? "") }),
    command: step.command,
    label,
    options: orNull(present(options)),
    priority: step.priority ?? 0,
    agentRules: agentRules(step.agents ?? {}),
  };
}

type Present<Members> = { [Name in keyof Members]: Exclude<Members[Name], undefined> };

function present<Members extends object>(members: Members): Present<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<Members>;
}

function orNull<Options extends object>(options: Options): Options | null {
  return Object.keys(options).length > 0 ? options : null;
}

/**
 * The jobs of a new build as they begin: those that wait for nothing are scheduled.
 * @returns the state of the build, if no job can start
 */
export function begin({ tree, jobs: drafted }: Expansion, jobs: Job[]): { jobs: Job[]; state?: BuildState } {
  const waitsForNothing =
    isList(tree) && drafted.every(({ step, broken }) => startsAtOnce(step) && broken === undefined);
  const progress = waitsForNothing ? undefined : decideProgress(tree, jobs);
  const begun = jobs.map((job) => (job.state === "waiting" ? beginJob(job, progress) : job));
  if (begun.some(({ state }) => state === "scheduled")) return { jobs: begun };
  const isFailing = begun.some(({ state }) => state === "waiting_failed" || state === "blocked_failed");
  if (!progress?.waitsForPeople) return { jobs: begun, state: isFailing ? "failed" : "not_run" };
  const unblockable = begun.filter((job) => job.unblockable);
  const states = unblockable.map(({ options }) => options?.manual?.blocked_state);
  return { jobs: begun, state: blockedState(states, { isFailing }) };
}

/** @param progress absent: the job waits for nothing */
function beginJob(job: Job, progress: Progress | undefined): Job {
  const { stepId, type, createdAt } = job;
  if (progress?.failed.has(stepId)) return { ...job, state: "waiting_failed", finishedAt: createdAt };
  if (progress?.blockedFailed.has(stepId)) return { ...job, state: "blocked_failed", finishedAt: createdAt };
  if (progress?.blocked.has(stepId))
    return { ...job, state: "blocked", unblockable: progress.unblockable.has(stepId) };
  if (progress && !progress.reached.has(stepId)) return job;
  if (type === "waiter") return { ...job, state: "passed", finishedAt: createdAt };
  return { ...job, state: "scheduled", scheduledAt: createdAt };
}

function startsAtOnce(step: PlainStep): boolean {
  return isCommandStep(step) || isTriggerStep(step);
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
    state: "scheduled" satisfies JobState,
    exitStatus: null,
    signal: null,
    signalReason: null,
    failureReason: null,
    softFailed: false,
    brokenReason: null,
    priority: 0,
    agentRules: "",
    dispatchPausedAt: null,
    agentId: null,
    stackId: null,
    reservedUntil: null,
    attempt: 0,
    retryOfJobId: null,
    retriedInJobId: null,
    retriedById: null,
    retryType: null,
    retriesCount: 0,
    createdAt,
    arrivedAt: null,
    limitedAt: null,
    scheduledAt: createdAt,
    assignedAt: null,
    acceptedAt: null,
    startedAt: null,
    finishedAt: null,
    timesOutAt: null,
    endsAt: null,
    promisedExitStatus: null,
    promisedAt: null,
    unblockable: false,
    unblockedAt: null,
    unblockedById: null,
  };
}
