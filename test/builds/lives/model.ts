import assert from "node:assert/strict";
import {
  type BuildState,
  finishedBuildStates,
  finishedJobStates,
  type JobState,
  type Node,
} from "../../../shared/vocabulary.ts";
import { modelProgress } from "../../graph/model.ts";
import type { Group, Shape } from "./pipelines.ts";

// The rules of builds once more, slowly: all builds of an installation in memory. After each event, all that follows from
// it is done, one thing after the other, until nothing is left.

export interface ModelJob {
  id: string;
  build: ModelBuild;
  shape: Shape;
  stepId: string;
  position: number;
  state: JobState;
  softFailed: boolean;
  retriedInJobId: string | null;
  retryOf: ModelJob | undefined;
  isAutomaticRetry: boolean;
  /** It counts in its group. */
  isMember: boolean;
  unblockable: boolean;
  /** It is canceled because the build that it made was. */
  followsCanceled: boolean;
}

export interface ModelBuild {
  id: string;
  pipeline: number;
  createdAt: Date;
  /** By how many milliseconds it goes later than its own time in its groups. */
  lateMs: number;
  state: BuildState;
  hasStarted: boolean;
  /** It had ended, or waited for people, and something happened to it. */
  wasQuiet: boolean;
  madeBy: ModelJob | undefined;
  jobs: ModelJob[];
  tree: Node[];
}

/** Rows of the database: the model takes ids, and times from them, and the choices of eager groups. */
export interface Rows {
  builds: { id: string; createdAt: Date; triggeredByJobId: string | null }[];
  jobs: {
    id: string;
    buildId: string;
    stepId: string;
    position: number;
    state: JobState;
    retryOfJobId: string | null;
  }[];
}

const retryable: JobState[] = ["failed", "timed_out", "canceled", "expired"];
const endings: Partial<Record<BuildState, JobState>> = {
  passed: "passed",
  not_run: "passed",
  blocked_passed: "passed",
  failed: "failed",
  canceled: "canceled",
};

export function openModel(pipelines: Shape[][], groups: Group[]) {
  const builds: ModelBuild[] = [];
  const dirty = new Set<ModelBuild>();
  const toMirror = new Set<ModelBuild>();
  const toCancel = new Set<ModelJob>();
  /** The place of the last build that each ordered group has let in. */
  const reached = new Map<string, Place>();
  /** Jobs that were limited before the event. */
  let limitedBefore = new Set<ModelJob>();
  let rows: Rows = { builds: [], jobs: [] };

  const allJobs = () => builds.flatMap(({ jobs }) => jobs);
  const isFinished = ({ state }: ModelJob) => finishedJobStates.includes(state);
  const isOver = ({ state }: ModelBuild) => finishedBuildStates.includes(state);
  const isBlocked = ({ state }: ModelBuild) => state.startsWith("blocked_");
  const isFailed = ({ state, softFailed, retriedInJobId }: ModelJob) =>
    (["failed", "canceled", "timed_out", "expired"].includes(state) &&
      !softFailed &&
      retriedInJobId === null) ||
    ["waiting_failed", "blocked_failed"].includes(state);
  const isActive = (job: ModelJob) => !isFinished(job) && job.state !== "waiting" && job.state !== "blocked";

  const addBuild = (id: string, pipeline: number, madeBy?: ModelJob): ModelBuild => {
    const row = rows.builds.find((each) => each.id === id);
    assert.ok(row, `there is no build ${id}`);
    const own = rows.jobs
      .filter((job) => job.buildId === id && job.retryOfJobId === null)
      .sort((one, other) => one.position - other.position || (one.id < other.id ? -1 : 1));
    const build: ModelBuild = {
      id,
      pipeline,
      createdAt: row.createdAt,
      lateMs: 0,
      state: "scheduled",
      hasStarted: false,
      wasQuiet: false,
      madeBy,
      jobs: [],
      tree: [],
    };
    for (const shape of pipelines[pipeline] ?? []) {
      const jobs = own.splice(0, shape.copies);
      build.tree.push(nodeOf(shape, jobs[0]?.id ?? ""));
      for (const { id, stepId, position } of jobs)
        build.jobs.push(newJob({ id, build, shape, stepId, position }));
    }
    assert.deepEqual(own, [], "the build has the jobs of its steps");
    builds.push(build);
    settle(build);
    return build;
  };

  const cancelJobs = (jobs: ModelJob[]): number => {
    const open = jobs.filter((job) => !isFinished(job) && job.state !== "canceling");
    for (const job of open) {
      job.unblockable = false;
      if (job.state === "running" && job.shape.type === "script") job.state = "canceling";
      else {
        job.state = "canceled";
        job.followsCanceled = false;
        job.softFailed = job.shape.softFail;
        if (job.shape.type === "trigger") toCancel.add(job);
      }
    }
    return open.length;
  };
  const cancelBuild = (build: ModelBuild) => {
    build.wasQuiet ||= isBlocked(build);
    cancelJobs(build.jobs);
    build.state = "canceling";
    dirty.add(build);
  };
  const cancelOnFailing = (build: ModelBuild) =>
    cancelJobs(build.jobs.filter(({ shape }) => shape.cancelsOnFailing)) > 0;

  /** A job that no other step holds back. */
  const reach = (job: ModelJob) => {
    if (job.shape.type === "waiter") job.state = "passed";
    else job.state = job.shape.group === undefined ? "scheduled" : "limited";
  };
  const advance = ({ jobs, tree }: ModelBuild): void => {
    const progress = modelProgress(tree, jobs);
    const waiting = (ids: Set<string>) =>
      jobs.filter(({ stepId, state }) => ids.has(stepId) && (state === "waiting" || state === "blocked"));
    for (const job of waiting(progress.failed))
      Object.assign(job, { state: "waiting_failed", unblockable: false });
    for (const job of waiting(progress.blockedFailed))
      Object.assign(job, { state: "blocked_failed", unblockable: false });
    for (const job of waiting(progress.blocked)) job.state = "blocked";
    for (const job of waiting(progress.waiting)) job.state = "waiting";
    for (const job of waiting(progress.unblockable)) job.unblockable = true;
    for (const job of waiting(progress.notUnblockable)) job.unblockable = false;
    for (const job of waiting(progress.reached)) reach(job);
  };
  /** A build that comes to its groups after a later one was let in goes behind that one, unless it has entries. */
  const enter = (build: ModelBuild): void => {
    const counts = (job: ModelJob) =>
      job.shape.group !== undefined && !isFinished(job) && job.state !== "blocked";
    const added = build.jobs.filter((job) => counts(job) && !job.isMember);
    if (added.length > 0 && !build.jobs.some(({ isMember }) => isMember)) {
      const own = placeOf({ ...build, lateMs: 0 });
      const others = added.flatMap(({ shape }) => reached.get(shape.group ?? "") ?? []);
      const ahead = others.filter((other) => other.buildId !== build.id && own < placeText(other));
      build.lateMs = Math.max(0, ...ahead.map(({ timeMs }) => timeMs - build.createdAt.getTime() + 1));
    }
    for (const job of build.jobs) job.isMember = counts(job);
  };
  const settle = (build: ModelBuild): void => {
    decide(build);
    enter(build);
  };
  const decide = (build: ModelBuild): void => {
    dirty.delete(build);
    build.wasQuiet ||= isOver(build) || isBlocked(build);
    if (isOver(build)) return;
    advance(build);
    const { jobs } = build;
    const isQuiet = !jobs.some(isActive);
    const isFailing = jobs.some(isFailed);
    const people = jobs.filter(({ unblockable }) => unblockable);
    if ((isQuiet || build.wasQuiet) && build.madeBy) toMirror.add(build);
    build.wasQuiet = false;
    if (!isQuiet) {
      if (isBlocked(build)) build.state = build.hasStarted ? "running" : "scheduled";
      if (!isFailing && build.state === "failing") build.state = build.hasStarted ? "running" : "scheduled";
      if (isFailing && (build.state === "scheduled" || build.state === "running")) {
        build.state = "failing";
        if (cancelOnFailing(build)) decide(build);
      }
    } else if (people.length > 0) {
      if (isFailing && build.state !== "failing" && cancelOnFailing(build)) {
        decide(build);
        return;
      }
      const wanted = people.map(({ shape }) => shape.blockedState);
      const shown = (["failed", "running"] as const).find((each) => wanted.includes(each)) ?? "passed";
      build.state = isFailing ? "blocked_failed" : `blocked_${shown}`;
    } else {
      build.state = build.state === "canceling" ? "canceled" : isFailing ? "failed" : "passed";
      if (build.state === "failed")
        for (const job of jobs) if (job.state === "unblocked") job.state = "unblocked_failed";
    }
  };

  const reopen = (build: ModelBuild) => {
    const before = {
      waiting_failed: "waiting",
      blocked_failed: "blocked",
      unblocked_failed: "unblocked",
    } as const;
    for (const job of build.jobs)
      if (job.state in before) job.state = before[job.state as keyof typeof before];
    build.wasQuiet ||= isOver(build) || isBlocked(build);
    if (isOver(build)) build.state = build.hasStarted ? "running" : "scheduled";
    dirty.add(build);
  };
  const start = (build: ModelBuild) => {
    build.hasStarted = true;
    if (build.state === "scheduled") build.state = "running";
  };
  const addRetry = (job: ModelJob, isAutomatic: boolean) => {
    const row = rows.jobs.find(({ retryOfJobId }) => retryOfJobId === job.id);
    assert.ok(row, `job ${job.id} was not retried`);
    const { build, shape, stepId, position } = job;
    const retry = newJob({ id: row.id, build, shape, stepId, position });
    Object.assign(retry, { retryOf: job, isAutomaticRetry: isAutomatic });
    reach(retry);
    job.retriedInJobId = retry.id;
    build.jobs.push(retry);
  };
  const endingOf = ({ shape }: ModelJob, { state }: ModelBuild): JobState =>
    shape.isAsync ? "passed" : (endings[state] ?? "running");
  const move = (job: ModelJob, state: JobState) => {
    job.state = state;
    job.followsCanceled = state === "canceled";
    job.softFailed = (state === "failed" || state === "canceled") && job.shape.softFail;
    dirty.add(job.build);
  };
  const makeBuild = (job: ModelJob) => {
    const made = rows.builds.filter(({ triggeredByJobId }) => triggeredByJobId === job.id);
    assert.equal(made.length, 1, `job ${job.id} made ${made.length} builds`);
    const child = addBuild(made[0]?.id ?? "", job.shape.target, job);
    move(job, endingOf(job, child));
    start(job.build);
  };
  const isCanceledByPeople = (job: ModelJob | undefined) =>
    job?.state === "canceled" && !job.followsCanceled && !job.shape.isAsync;
  const mirror = (child: ModelBuild) => {
    toMirror.delete(child);
    const job = child.madeBy as ModelJob;
    const { state, build, followsCanceled, retriedInJobId, shape } = job;
    if (retriedInJobId !== null || shape.isAsync || build.state === "canceling" || build.state === "canceled")
      return;
    if (!["running", "passed", "failed"].includes(state) && !(state === "canceled" && followsCanceled))
      return;
    const ending = endingOf(job, child);
    if (ending === state) return;
    if (isFinished(job)) reopen(build);
    move(job, ending);
  };
  const passCancelOn = (job: ModelJob) => {
    toCancel.delete(job);
    const child = builds.find(({ madeBy }) => madeBy === job);
    if (child && !isOver(child) && isCanceledByPeople(job)) cancelBuild(child);
  };

  /** Starts one job of a group that has room. */
  const startOne = ({ name, limit, isEager }: Group): boolean => {
    const grouped = allJobs()
      .filter((job) => job.shape.group === name && !isFinished(job) && job.state !== "blocked")
      .sort(byPlace);
    const isHolding = ({ state }: ModelJob) => state !== "waiting" && state !== "limited";
    const holders = grouped.filter(isHolding).length;
    const limited = grouped.filter(({ state }) => state === "limited");
    if (!isEager) {
      const ready = limited.find((job) => {
        const ahead = grouped.slice(0, grouped.indexOf(job)).filter((each) => !isHolding(each));
        return holders + ahead.length < limit;
      });
      if (ready) {
        ready.state = "scheduled";
        const last = placeIn(ready.build);
        const known = reached.get(name);
        if (!known || placeText(known) < placeText(last)) reached.set(name, last);
      }
      return ready !== undefined;
    }
    if (holders >= limit || limited.length === 0) return false;
    const inOrder = limited.sort(
      (one, other) => other.shape.priority - one.shape.priority || byPlace(one, other),
    );
    const hasStarted = ({ id }: ModelJob) => rows.jobs.find((row) => row.id === id)?.state !== "limited";
    const chosen = inOrder.find(hasStarted);
    assert.ok(chosen, `${name} has room, but job ${inOrder[0]?.id} does not start`);
    const passedOver = inOrder.slice(0, inOrder.indexOf(chosen)).filter((job) => limitedBefore.has(job));
    assert.deepEqual(passedOver, [], `job ${chosen.id} has overtaken in ${name}`);
    chosen.state = "scheduled";
    return true;
  };
  const doNext = (): boolean => {
    const [build] = dirty;
    const [child] = toMirror;
    const [job] = toCancel;
    const trigger = allJobs().find(({ state, shape }) => shape.type === "trigger" && state === "scheduled");
    if (build) settle(build);
    else if (trigger) makeBuild(trigger);
    else if (child) mirror(child);
    else if (job) passCancelOn(job);
    else return groups.some(startOne);
    return true;
  };
  /** Does an event, with the rows that the database has after it. */
  const after = (present: Rows, event: () => void) => {
    rows = present;
    limitedBefore = new Set(allJobs().filter(({ state }) => state === "limited"));
    event();
    while (doNext());
  };

  return {
    builds,
    allJobs,
    created: (present: Rows, id: string, pipeline: number) => after(present, () => addBuild(id, pipeline)),
    taken: (present: Rows, job: ModelJob) =>
      after(present, () => {
        job.state = "running";
        start(job.build);
      }),
    ended: (present: Rows, job: ModelJob, exitStatus: number) =>
      after(present, () => {
        const { shape, state, build } = job;
        job.state = state === "canceling" ? "canceled" : exitStatus === 0 ? "passed" : "failed";
        job.softFailed = job.state !== "passed" && shape.softFail;
        dirty.add(build);
        if (job.state === "failed" && build.state !== "canceling" && countRetries(job) < shape.retries)
          addRetry(job, true);
      }),
    mayUnblock: ({ state, unblockable }: ModelJob) => state === "blocked" && unblockable,
    unblocked: (present: Rows, job: ModelJob) =>
      after(present, () => {
        Object.assign(job, { state: "unblocked", unblockable: false });
        dirty.add(job.build);
      }),
    mayCancelBuild: (build: ModelBuild) => !isOver(build),
    canceledBuild: (present: Rows, build: ModelBuild) => after(present, () => cancelBuild(build)),
    mayCancel: (job: ModelJob) => !isFinished(job),
    canceled: (present: Rows, job: ModelJob) =>
      after(present, () => {
        cancelJobs([job]);
        dirty.add(job.build);
      }),
    mayRetry: ({ state, retriedInJobId, build }: ModelJob) =>
      retriedInJobId === null &&
      retryable.includes(state) &&
      build.state !== "canceling" &&
      !isCanceledByPeople(build.madeBy),
    retried: (present: Rows, job: ModelJob) =>
      after(present, () => {
        addRetry(job, false);
        reopen(job.build);
      }),
  };
}

function nodeOf({ type, key, dependsOn, continueOnFailure }: Shape, id: string): Node {
  return {
    id,
    key,
    ...(dependsOn && { dependsOn: dependsOn.map((step) => ({ step })) }),
    ...((type === "waiter" || type === "block") && { wait: true as const }),
    ...((type === "block" || type === "input") && { manual: true as const }),
    ...(continueOnFailure && { continueOnFailure: true as const }),
  };
}

function newJob(own: Pick<ModelJob, "id" | "build" | "shape" | "stepId" | "position">): ModelJob {
  return {
    ...own,
    state: "waiting",
    softFailed: false,
    retriedInJobId: null,
    retryOf: undefined,
    isAutomaticRetry: false,
    isMember: false,
    unblockable: false,
    followsCanceled: false,
  };
}

/** By the time of a build, then by its id. */
interface Place {
  timeMs: number;
  buildId: string;
}

type Placed = Pick<ModelBuild, "id" | "createdAt" | "lateMs">;

function placeIn({ id, createdAt, lateMs }: Placed): Place {
  return { timeMs: createdAt.getTime() + lateMs, buildId: id };
}

function placeText({ timeMs, buildId }: Place): string {
  return `${timeMs} ${buildId}`;
}

function placeOf(build: Placed): string {
  return placeText(placeIn(build));
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The order of a group. */
function byPlace(one: ModelJob, other: ModelJob): number {
  return (
    compareTexts(placeOf(one.build), placeOf(other.build)) ||
    one.position - other.position ||
    (one.id < other.id ? -1 : 1)
  );
}

/** Retries by the rule, before and up to a job. */
function countRetries({ retryOf, isAutomaticRetry }: ModelJob): number {
  return retryOf ? countRetries(retryOf) + (isAutomaticRetry ? 1 : 0) : 0;
}
