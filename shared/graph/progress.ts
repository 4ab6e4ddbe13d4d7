import { finishedJobStates, type JobState, type Node } from "../vocabulary.ts";
import { type Vertex, wire } from "./wiring.ts";

// Decides which steps may start and which never can, from the tree of a build and the states of its jobs. Deciding twice,
// or late, decides the same.
//
// | end of a dependency                       | plain     | allow_failure, continue_on_failure |
// |-------------------------------------------|-----------|------------------------------------|
// | passed, failed softly, broken             | satisfied | satisfied                          |
// | failed, timed out, expired, waiting_failed| failed    | satisfied                          |
// | canceled                                  | failed    | failed                             |
// | not ended, or to be retried               | open      | open                               |

/** A job as far as the steps behind it need it. */
export interface JobStanding {
  id: string;
  stepId: string;
  state: JobState;
  softFailed: boolean;
  retriedInJobId: string | null;
}

/** Ids of steps whose waiting jobs change. */
export interface Progress {
  /** waiting → scheduled, or passed if the step is a wait. */
  reached: Set<string>;
  /** waiting → waiting_failed. */
  failed: Set<string>;
}

/** The worst of what ended, and whether all of it has. */
interface Standing {
  ending: Ending;
  isOpen: boolean;
}

const maxKeysOfCircle = 5;

type Ending = 0 | 1 | 2;
const satisfied = 0;
const failed = 1;
const canceled = 2;

/**
 * Decides what the waiting jobs of a build do now.
 * @param jobs all jobs of the build, retried ones too
 */
export function decideProgress(tree: Node[], jobs: JobStanding[]): Progress {
  const vertices = inOrder(wire(tree));
  const isActive = jobs.some(({ state }) => state !== "waiting" && !finishedJobStates.includes(state));
  const { progress, startsJob, hasOpen } = evaluate(vertices, jobs);
  if (isActive || startsJob || !hasOpen) return progress;
  // Nothing else will run, so that no upload can bring a missing key any more.
  return evaluate(vertices, jobs, { canKeysCome: false }).progress;
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
  const progress: Progress = { reached: new Set(), failed: new Set() };
  const ofSteps = standingsOfSteps(jobs);
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const standings: Standing[] = [];
  let startsJob = false;
  let hasOpen = false;

  const ofNeeds = ({ needs, missing }: Vertex): Standing => {
    const all: Standing = { ending: satisfied, isOpen: false };
    if (missing && canKeysCome) all.isOpen = true;
    else if (missing) all.ending = canceled;
    for (const { vertex, forgives } of needs) {
      const { ending, isOpen } = standings[vertex.index] as Standing;
      if (isOpen) all.isOpen = true;
      if (ending > all.ending && !(forgives && ending === failed)) all.ending = ending;
    }
    return all;
  };
  const ofWaitingStep = (vertex: Vertex, own: Standing): Standing => {
    const { id, wait } = vertex.step as { id: string; wait?: true };
    const { ending, isOpen } = ofNeeds(vertex);
    // A wait is decided late: until then the steps before it may be retried.
    const isUndecided = wait ? isOpen : isOpen && ending === satisfied;
    if (isUndecided) {
      hasOpen = true;
      return own;
    }
    if (ending === satisfied && !isOpen) {
      progress.reached.add(id);
      if (!wait) startsJob = true;
      return wait ? { ending: satisfied, isOpen: false } : own;
    }
    progress.failed.add(id);
    return { ending: worse(own.ending, failed), isOpen: false };
  };
  for (const vertex of vertices) {
    const { step, job } = vertex;
    const own = step && ofSteps.get(step.id);
    standings[vertex.index] = own?.isWaiting
      ? ofWaitingStep(vertex, own)
      : (own ?? (job === undefined ? ofNeeds(vertex) : standingOfLast(byId, job)));
  }
  return { progress, startsJob, hasOpen };
}

/** By the id of the step, without retried jobs. */
function standingsOfSteps(jobs: JobStanding[]): Map<string, Standing & { isWaiting: boolean }> {
  const standings = new Map<string, Standing & { isWaiting: boolean }>();
  for (const job of jobs) {
    if (job.retriedInJobId !== null) continue;
    const own = standingOf(job);
    const { ending, isOpen, isWaiting } = standings.get(job.stepId) ?? { ...own, isWaiting: false };
    standings.set(job.stepId, {
      ending: worse(ending, own.ending),
      isOpen: isOpen || own.isOpen,
      isWaiting: isWaiting || job.state === "waiting",
    });
  }
  return standings;
}

/** The standing of a job, or of its last retry. */
function standingOfLast(byId: Map<string, JobStanding>, id: string): Standing {
  const job = byId.get(id);
  if (!job) return { ending: satisfied, isOpen: false };
  return job.retriedInJobId === null ? standingOf(job) : standingOfLast(byId, job.retriedInJobId);
}

function standingOf({ state, softFailed }: JobStanding): Standing {
  if (!finishedJobStates.includes(state)) return { ending: satisfied, isOpen: true };
  if (softFailed || state === "passed" || state === "broken") return { ending: satisfied, isOpen: false };
  return { ending: state === "canceled" ? canceled : failed, isOpen: false };
}

function worse(one: Ending, other: Ending): Ending {
  return one > other ? one : other;
}
