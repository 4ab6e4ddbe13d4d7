import {
  finishedJobStates,
  type JobState,
  type Node,
  type StepNode,
  waitingJobStates,
} from "../vocabulary.ts";
import { type Vertex, wire } from "./wiring.ts";

// Decides which steps may start and which never can, from the tree of a build and the states of its jobs. Deciding twice,
// or late, decides the same.
//
// | end of a dependency                         | plain     | allow_failure, continue_on_failure |
// |---------------------------------------------|-----------|------------------------------------|
// | passed, failed softly, broken, skipped,     | satisfied | satisfied                          |
// | unblocked                                   |           |                                    |
// | failed, timed out, expired, waiting_failed, | failed    | satisfied                          |
// | blocked_failed                              |           |                                    |
// | canceled                                    | failed    | failed                             |
// | not ended, not unblocked, or to be retried  | open      | open                               |

/** A job as far as the steps behind it need it. */
export interface JobStanding {
  id: string;
  stepId: string;
  state: JobState;
  softFailed: boolean;
  retriedInJobId: string | null;
  /** Absent: false, as of all but manual jobs. */
  unblockable?: boolean;
}

/** Ids of steps whose waiting or blocked jobs change. */
export interface Progress {
  /** → scheduled, or passed if the step is a wait. */
  reached: Set<string>;
  /** → waiting_failed. */
  failed: Set<string>;
  /** → blocked_failed: a manual step that can never be unblocked, or a step behind one. */
  blockedFailed: Set<string>;
  /** waiting → blocked: a manual step, or a step behind one that nobody has unblocked. */
  blocked: Set<string>;
  /** blocked → waiting. */
  waiting: Set<string>;
  /** Manual steps that somebody can unblock from now on. */
  unblockable: Set<string>;
  /** Manual steps that nobody can unblock any more, because a step before them runs again. */
  notUnblockable: Set<string>;
  /** Somebody can unblock a step. */
  waitsForPeople: boolean;
}

/** The worst of what ended, and whether all of it has. */
interface Standing {
  ending: Ending;
  isOpen: boolean;
  /** It is a manual step that nobody has unblocked, or behind one. */
  isBlocked: boolean;
  /** It is a manual step that can never be unblocked, or behind one and failed. */
  isBehindFailed: boolean;
}

interface StandingOfStep extends Standing {
  isWaiting: boolean;
  /** It has jobs in these states. */
  hasWaiting: boolean;
  hasBlocked: boolean;
  unblockable: boolean;
}

const maxKeysOfCircle = 5;

type Ending = 0 | 1 | 2;
const satisfied = 0;
const failed = 1;
const canceled = 2;

/** Of a step that holds nothing back. */
const ended: Standing = { ending: satisfied, isOpen: false, isBlocked: false, isBehindFailed: false };

/** The vertices of each tree, in order: wiring a tree takes longer than deciding it. */
const orders = new WeakMap<Node[], Vertex[]>();

/**
 * Decides what the waiting jobs of a build do now.
 * @param tree not to be changed afterwards
 * @param jobs all jobs of the build, retried ones too. Satisfied ones may be left out: a step without jobs counts as
 * satisfied
 * @param heldBack limited jobs that only waiting ones of their build keep from starting
 */
export function decideProgress(
  tree: Node[],
  jobs: JobStanding[],
  heldBack: ReadonlySet<string> = new Set(),
): Progress {
  const vertices = orderOf(tree);
  const isActive = jobs.some((job) => isActiveJob(job) && !heldBack.has(job.id));
  const { progress, startsJob, hasOpen } = evaluate(vertices, jobs);
  if (isActive || startsJob || progress.waitsForPeople || !hasOpen) return progress;
  // Nothing else will run, so that no upload can bring a missing key any more.
  return evaluate(vertices, jobs, { canKeysCome: false }).progress;
}

function orderOf(tree: Node[]): Vertex[] {
  const vertices = orders.get(tree) ?? inOrder(wire(tree));
  orders.set(tree, vertices);
  return vertices;
}

/** Returns true if steps depend on keys that no step has. */
export function hasMissingKeys(tree: Node[]): boolean {
  return orderOf(tree).some(({ missing }) => missing !== undefined);
}

/** Returns true if a job runs, or waits for an agent or its concurrency group. */
export function isActiveJob({ state }: Pick<JobStanding, "state">): boolean {
  return !isWaiting(state) && !finishedJobStates.includes(state);
}

/**
 * Finds steps that wait for each other, so that none of them could ever start.
 * @returns keys of some of them, if they have any; undefined if there are none
 */
export function findCircle(tree: Node[]): string[] | undefined {
  const vertices = wire(tree);
  const ordered = new Set(inOrder(vertices));
  if (ordered.size === vertices.length) return undefined;
  const keys = vertices.filter((vertex) => !ordered.has(vertex)).flatMap(({ step }) => step?.key ?? []);
  return keys.slice(0, maxKeysOfCircle);
}

/** Orders vertices behind those that they need. Leaves out circles. */
export function inOrder(vertices: Vertex[]): Vertex[] {
  const unknown = vertices.map(({ needs }) => needs.length);
  const neededBy: Vertex[][] = vertices.map(() => []);
  for (const vertex of vertices) for (const need of vertex.needs) neededBy[need.vertex.index]?.push(vertex);
  const ordered = vertices.filter(({ needs }) => needs.length === 0);
  for (const { index } of ordered)
    for (const next of neededBy[index] ?? []) {
      const left = (unknown[next.index] ?? 0) - 1;
      unknown[next.index] = left;
      if (left === 0) ordered.push(next);
    }
  return ordered;
}

function evaluate(vertices: Vertex[], jobs: JobStanding[], { canKeysCome = true } = {}) {
  const progress = noProgress();
  const ofSteps = standingsOfSteps(jobs);
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const standings: Standing[] = [];
  let startsJob = false;
  let hasOpen = false;

  const ofNeeds = ({ needs, missing }: Vertex): Standing => {
    const all: Standing = { ...ended };
    if (missing && canKeysCome) all.isOpen = true;
    else if (missing) all.ending = canceled;
    for (const { vertex, forgives } of needs) {
      const { ending, isOpen, isBlocked, isBehindFailed } = standings[vertex.index] as Standing;
      if (isOpen) all.isOpen = true;
      if (isBlocked) all.isBlocked = true;
      if (isBehindFailed) all.isBehindFailed = true;
      if (ending > all.ending && !(forgives && ending === failed)) all.ending = ending;
    }
    return all;
  };
  const ofWaitingStep = (vertex: Vertex, own: StandingOfStep): Standing => {
    const { id, wait, manual = false } = vertex.step as StepNode;
    const { ending, isOpen, ...needed } = ofNeeds(vertex);
    const isBlocked = manual || needed.isBlocked;
    // A barrier is decided late: until then the steps before it may be retried.
    const isUndecided = wait ? isOpen : isOpen && ending === satisfied;
    const isSatisfied = ending === satisfied && !isOpen;
    if (isUndecided || (isSatisfied && manual)) {
      hasOpen = true;
      if (isBlocked && own.hasWaiting) progress.blocked.add(id);
      if (!isBlocked && own.hasBlocked) progress.waiting.add(id);
      if (isSatisfied) progress.waitsForPeople = true;
      if (isSatisfied && !own.unblockable) progress.unblockable.add(id);
      if (!isSatisfied && own.unblockable) progress.notUnblockable.add(id);
      return { ...own, isOpen: true, isBlocked };
    }
    if (isSatisfied) {
      progress.reached.add(id);
      if (!wait) startsJob = true;
      return wait ? ended : own;
    }
    const isBehindFailed = isBlocked || needed.isBehindFailed;
    progress[isBehindFailed ? "blockedFailed" : "failed"].add(id);
    return { ending: worse(own.ending, failed), isOpen: false, isBlocked: false, isBehindFailed };
  };
  for (const vertex of vertices) {
    const { step, job } = vertex;
    const own = step && ofSteps.get(step.id);
    if (own?.isWaiting) standings[vertex.index] = ofWaitingStep(vertex, own);
    else if (step) standings[vertex.index] = own ?? ended;
    else standings[vertex.index] = job === undefined ? ofNeeds(vertex) : standingOfLast(byId, job);
  }
  return { progress, startsJob, hasOpen };
}

function noProgress(): Progress {
  return {
    reached: new Set(),
    failed: new Set(),
    blockedFailed: new Set(),
    blocked: new Set(),
    waiting: new Set(),
    unblockable: new Set(),
    notUnblockable: new Set(),
    waitsForPeople: false,
  };
}

/** By the id of the step, without retried jobs. */
function standingsOfSteps(jobs: JobStanding[]): Map<string, StandingOfStep> {
  const standings = new Map<string, StandingOfStep>();
  for (const job of jobs) {
    if (job.retriedInJobId !== null) continue;
    const { stepId, state, unblockable } = job;
    const own = standingOf(job);
    const others = standings.get(stepId);
    standings.set(stepId, {
      ending: worse(others?.ending ?? satisfied, own.ending),
      isOpen: own.isOpen || others?.isOpen === true,
      isBlocked: false,
      isBehindFailed: own.isBehindFailed || others?.isBehindFailed === true,
      isWaiting: isWaiting(state) || others?.isWaiting === true,
      hasWaiting: state === "waiting" || others?.hasWaiting === true,
      hasBlocked: state === "blocked" || others?.hasBlocked === true,
      unblockable: unblockable === true || others?.unblockable === true,
    });
  }
  return standings;
}

/** The standing of a job, or of its last retry. */
function standingOfLast(byId: Map<string, JobStanding>, id: string): Standing {
  const job = byId.get(id);
  if (!job) return ended;
  return job.retriedInJobId === null ? standingOf(job) : standingOfLast(byId, job.retriedInJobId);
}

/** A job that ended so holds back nothing. */
export const satisfyingJobStates: JobState[] = [
  "passed",
  "broken",
  "skipped",
  "unblocked",
  "unblocked_failed",
];

function standingOf({ state, softFailed }: JobStanding): Standing {
  if (!finishedJobStates.includes(state)) return { ...ended, isOpen: true };
  if (softFailed || satisfyingJobStates.includes(state)) return ended;
  return {
    ...ended,
    ending: state === "canceled" ? canceled : failed,
    isBehindFailed: state === "blocked_failed",
  };
}

function isWaiting(state: JobState): boolean {
  return waitingJobStates.includes(state);
}

function worse(one: Ending, other: Ending): Ending {
  return one > other ? one : other;
}
