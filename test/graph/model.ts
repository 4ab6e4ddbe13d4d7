import type { JobStanding, Progress } from "../../shared/graph/progress.ts";
import type { Dependency, GroupNode, Node, StepNode, UploadNode } from "../../shared/vocabulary.ts";

// The rules of shared/graph once more, slowly: each step looks for what it waits for through the whole tree, again and
// again until nothing changes.

interface Outcome {
  isOpen: boolean;
  /** 0: satisfied, 1: failed, 2: canceled. */
  worst: number;
  /** It waits for somebody to unblock a step, or never came to that. */
  isBlocked?: boolean;
  isBehindFailed?: boolean;
}
type Place = { list: Node[]; index: number; inside: GroupNode | UploadNode | undefined };
interface Placed {
  step: StepNode;
  /** From the tree to the list of the step. */
  path: Place[];
}

const satisfied: Outcome = { isOpen: false, worst: 0 };
const passing = ["passed", "broken", "skipped", "unblocked", "unblocked_failed"];
const failing = ["failed", "canceled", "timed_out", "expired", "waiting_failed", "blocked_failed"];
const ended = [...passing, ...failing];
const waitingStates = ["waiting", "blocked"];

/** Returns false if a job may be left out of a decision. */
export function isUnsatisfied({ state, softFailed, retriedInJobId }: JobStanding): boolean {
  const isSatisfied = passing.includes(state) || (softFailed && ended.includes(state));
  return !isSatisfied || retriedInJobId !== null;
}

/** Decides like `decideProgress`. */
export function modelProgress(tree: Node[], jobs: JobStanding[]): Progress {
  const reached = new Set<string>();
  const failed = new Set<string>();
  const blocked = new Set<string>();
  const blockedFailed = new Set<string>();
  const steps = place(tree, []);
  const isActive = jobs.some(({ state }) => !waitingStates.includes(state) && !ended.includes(state));
  const isWaiting = ({ step: { id } }: Placed) =>
    jobs.some(({ stepId, state }) => stepId === id && waitingStates.includes(state)) &&
    !reached.has(id) &&
    !failed.has(id);

  const ofJob = ({ state, softFailed }: JobStanding): Outcome => {
    if (!ended.includes(state)) return { isOpen: true, worst: 0 };
    if (softFailed || passing.includes(state)) return satisfied;
    const isBehindFailed = state === "blocked_failed";
    return { isOpen: false, worst: state === "canceled" ? 2 : 1, isBehindFailed };
  };
  const ofStep = ({ id, wait }: StepNode): Outcome => {
    const own = jobs.filter((job) => job.stepId === id && job.retriedInJobId === null).map(ofJob);
    const known = all(own.filter(({ isOpen }) => !isOpen));
    const isBehindFailed = blockedFailed.has(id);
    if (failed.has(id)) return { isOpen: false, worst: Math.max(1, known.worst), isBehindFailed };
    return wait && reached.has(id) ? satisfied : { ...all(own), ...(blocked.has(id) && { isBlocked: true }) };
  };
  const ofNodes = (nodes: Node[]): Outcome =>
    all(nodes.map((node) => ("steps" in node ? ofNodes(node.steps) : ofStep(node))));
  /** Of a key that no step has. */
  let missing: Outcome = { isOpen: true, worst: 0 };
  const ofKey = (key: string, path: Place[]): Outcome => {
    const named = everyNode(tree).find((node) => "key" in node && node.key === key);
    if (!named) return missing;
    if ("steps" in named) return ofNodes(named.steps);
    const { id } = named as StepNode;
    if (path.some(({ inside }) => inside && "uploadedBy" in inside && inside.uploadedBy.step === id))
      return ofStep(named as StepNode);
    const uploads = everyNode(tree).filter((node) => "uploadedBy" in node && node.uploadedBy.step === id);
    return all([ofStep(named as StepNode), ...uploads.map((node) => ofNodes((node as UploadNode).steps))]);
  };
  const ofUploader = (id: string): Outcome => {
    const job = jobs.find((each) => each.id === id);
    if (!job) return satisfied;
    return job.retriedInJobId === null ? ofJob(job) : ofUploader(job.retriedInJobId);
  };

  const ofKeys = (dependsOn: Dependency[], forgives: boolean, path: Place[]): Outcome =>
    all(
      dependsOn.map(({ step, allow_failure = false }) =>
        forgive(ofKey(step, path), forgives || allow_failure),
      ),
    );

  /** Everything that a step waits for. */
  const needsOf = ({ step, path }: Placed): Outcome[] => {
    const groups = path.flatMap(({ inside }, depth) =>
      inside && !("uploadedBy" in inside) ? [{ inside, depth }] : [],
    );
    const allows = (depth: number) =>
      groups.some((each) => each.depth <= depth && each.inside.allowDependencyFailure);
    const forgives = step.allowDependencyFailure === true || allows(path.length);
    const ofGroups = groups.map(({ inside, depth }) =>
      forgive(ofKeys(inside.dependsOn ?? [], allows(depth), path), forgives),
    );
    if (step.dependsOn)
      return [...ofGroups, ofKeys(step.dependsOn, forgives || step.continueOnFailure === true, path)];

    const implicit: Outcome[] = [];
    for (const { list, index, inside } of path.toReversed()) {
      const waits = list.slice(0, index).filter((node) => "wait" in node && node.wait);
      implicit.push(...waits.map((node) => ofStep(node as StepNode)));
      if (inside && "uploadedBy" in inside) implicit.push(ofUploader(inside.uploadedBy.job));
      else if (inside?.dependsOn) break;
    }
    if (!step.wait) return [...ofGroups, ...implicit.map((each) => forgive(each, forgives))];
    const { list, index } = path.at(-1) as Place;
    const before = list.slice(0, index);
    const lastWait = before.findLastIndex((node) => "wait" in node && node.wait);
    const counted = step.continueOnFailure ? before.slice(lastWait + 1) : before;
    const earlier = ofNodes(counted.filter((node) => !("wait" in node && node.wait)));
    return [...ofGroups, ...implicit, forgive(earlier, forgives || step.continueOnFailure === true)];
  };

  const decideAll = (): void => {
    for (let changed = true; changed; ) {
      changed = false;
      for (const placed of steps.filter(isWaiting)) {
        const { isOpen, worst } = all(needsOf(placed));
        const { id, wait, manual } = placed.step;
        if (isOpen && (wait || worst === 0)) continue;
        if (manual && worst === 0) continue;
        (worst > 0 ? failed : reached).add(id);
        changed = true;
      }
    }
  };
  const isOver = () =>
    isActive ||
    !steps.some(isWaiting) ||
    steps.some(isUnblockable) ||
    steps.some(({ step }) => !step.wait && reached.has(step.id));
  const isUnblockable = (placed: Placed) => {
    const { isOpen, worst } = all(needsOf(placed));
    return placed.step.manual === true && isWaiting(placed) && !isOpen && worst === 0;
  };
  const findBlocked = (): void => {
    for (let changed = true; changed; ) {
      const before = blocked.size + blockedFailed.size;
      for (const placed of steps) {
        const { id, manual = false } = placed.step;
        const needed = all(needsOf(placed));
        const isBlocked = manual || needed.isBlocked === true;
        if (isWaiting(placed) && isBlocked) blocked.add(id);
        if (failed.has(id) && (isBlocked || needed.isBehindFailed)) blockedFailed.add(id);
      }
      changed = blocked.size + blockedFailed.size > before;
    }
  };
  const finish = (): Progress => {
    findBlocked();
    const has = (id: string, test: (job: JobStanding) => boolean) =>
      jobs.some((job) => job.stepId === id && job.retriedInJobId === null && test(job));
    const idsOf = (test: (placed: Placed) => boolean) =>
      new Set(steps.filter(test).map(({ step }) => step.id));
    return {
      reached,
      failed: new Set([...failed].filter((id) => !blockedFailed.has(id))),
      blockedFailed,
      blocked: idsOf(({ step: { id } }) => blocked.has(id) && has(id, ({ state }) => state === "waiting")),
      waiting: idsOf(
        (placed) =>
          isWaiting(placed) &&
          !blocked.has(placed.step.id) &&
          has(placed.step.id, ({ state }) => state === "blocked"),
      ),
      unblockable: idsOf(
        (placed) => isUnblockable(placed) && !has(placed.step.id, (job) => job.unblockable === true),
      ),
      notUnblockable: idsOf(
        (placed) =>
          isWaiting(placed) &&
          !isUnblockable(placed) &&
          has(placed.step.id, (job) => job.unblockable === true),
      ),
      waitsForPeople: steps.some(isUnblockable),
    };
  };
  decideAll();
  if (isOver()) return finish();
  missing = { isOpen: false, worst: 2 };
  decideAll();
  return finish();
}

function place(list: Node[], path: Place[], inside?: GroupNode | UploadNode): Placed[] {
  return list.flatMap((node, index) => {
    const here = [...path, { list, index, inside }];
    return "steps" in node ? place(node.steps, here, node) : [{ step: node, path: here }];
  });
}

function everyNode(nodes: Node[]): Node[] {
  return nodes.flatMap((node) => ("steps" in node ? [node, ...everyNode(node.steps)] : [node]));
}

function all(outcomes: Outcome[]): Outcome {
  return {
    isOpen: outcomes.some(({ isOpen }) => isOpen),
    worst: Math.max(0, ...outcomes.map(({ worst }) => worst)),
    isBlocked: outcomes.some(({ isBlocked }) => isBlocked),
    isBehindFailed: outcomes.some(({ isBehindFailed }) => isBehindFailed),
  };
}

function forgive(outcome: Outcome, forgives: boolean): Outcome {
  return forgives && outcome.worst === 1 ? { ...outcome, worst: 0 } : outcome;
}
