import { finishedJobStates, type Node } from "../vocabulary.ts";
import { inOrder, type JobStanding } from "./progress.ts";
import { type Vertex, wire } from "./wiring.ts";

/** The reasons why a step waits. */
export interface Blockers {
  /** The ids of the nearest steps that have not ended, through groups, waits and uploads. */
  stepIds: string[];
  /** Keys that no step of the build has. */
  missingKeys: string[];
  /** There are more of either. */
  hasMore: boolean;
}

const none: Blockers = { stepIds: [], missingKeys: [], hasMore: false };

/**
 * Finds what each step of a build waits for.
 * @param jobs all jobs of the build, retried ones too
 * @param limit of the steps, and of the keys, that are named for one
 * @returns by the id of the step
 */
export function findBlockers(tree: Node[], jobs: JobStanding[], limit: number): Map<string, Blockers> {
  const openSteps = new Set(jobs.filter(isOpen).map(({ stepId }) => stepId));
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const found = new Map<string, Blockers>();
  /** The reasons that hold back a step which needs a vertex, by the place of the vertex. */
  const behind: Blockers[] = [];

  for (const vertex of inOrder(wire(tree))) {
    const { index, step, job, uploader } = vertex;
    const own = blockersOf(vertex);
    if (step) found.set(step.id, own);
    if (job !== undefined) behind[index] = isLastOpen(byId, job) ? blockedBy(uploader) : none;
    else if (!step) behind[index] = own;
    else if (!openSteps.has(step.id)) behind[index] = none;
    else behind[index] = step.wait && !step.manual ? own : blockedBy(step.id);
  }
  return found;

  function blockersOf({ needs, missing }: Vertex): Blockers {
    const holding = needs.map(({ vertex }) => behind[vertex.index] ?? none).filter((each) => each !== none);
    if (!missing && holding.length < 2) return holding[0] ?? none;
    const stepIds = new Set(holding.flatMap((each) => each.stepIds));
    // A step that waits for another stands for it.
    const stoodFor = new Set([...stepIds].flatMap((id) => found.get(id)?.stepIds ?? []));
    const nearest = [...stepIds].filter((id) => !stoodFor.has(id));
    const missingKeys = [...new Set([...(missing ?? []), ...holding.flatMap((each) => each.missingKeys)])];
    const hasMore =
      holding.some((each) => each.hasMore) || Math.max(nearest.length, missingKeys.length) > limit;
    return { stepIds: nearest.slice(0, limit), missingKeys: missingKeys.slice(0, limit), hasMore };
  }
}

function blockedBy(stepId = ""): Blockers {
  return { stepIds: [stepId], missingKeys: [], hasMore: false };
}

/** Returns true if a job, or its last retry, has not ended. */
function isLastOpen(byId: Map<string, JobStanding>, id: string): boolean {
  const job = byId.get(id);
  if (!job) return false;
  return job.retriedInJobId === null ? isOpen(job) : isLastOpen(byId, job.retriedInJobId);
}

function isOpen({ state, retriedInJobId }: JobStanding): boolean {
  return retriedInJobId === null && !finishedJobStates.includes(state);
}
