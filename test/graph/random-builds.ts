import type { JobStanding } from "../../shared/graph/progress.ts";
import type { Dependency, JobState, Node, StepNode } from "../../shared/vocabulary.ts";

export interface RandomBuild {
  tree: Node[];
  jobs: JobStanding[];
}

/** A number from 0 to below 1, the same ones for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const endedStates: JobState[] = [
  "passed",
  "passed",
  "passed",
  "failed",
  "canceled",
  "broken",
  "waiting_failed",
  "blocked_failed",
  "unblocked",
];
const waitingStates: JobState[] = ["waiting", "waiting", "blocked"];
const openStates: JobState[] = ["scheduled", "running", "canceling"];

/** A build of up to some 15 steps in any form and state, also one that no run would reach. */
export function randomBuild(random: () => number): RandomBuild {
  const chance = (share: number) => random() < share;
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const keys: string[] = [];
  let count = 0;
  const isQuiet = chance(0.3);

  const dependencies = (): Dependency[] =>
    Array.from({ length: Math.floor(random() * 3) }, () => ({
      step: chance(0.05)
        ? "missing"
        : chance(0.1)
          ? `k${count + 2}`
          : keys.length > 0
            ? pick(keys)
            : "missing",
      ...(chance(0.3) && { allow_failure: true }),
    }));
  const waitingPart = () => {
    const dependsOn = chance(0.35) ? dependencies() : undefined;
    count++;
    const key = `k${count}`;
    keys.push(key);
    return {
      key,
      ...(dependsOn && { dependsOn }),
      ...(chance(0.15) && { allowDependencyFailure: true as const }),
    };
  };
  const randomStep = (): StepNode => {
    const part = waitingPart();
    const isWait = chance(0.25);
    const isManual = chance(isWait ? 0.3 : 0.1);
    return {
      id: `id of ${part.key}`,
      ...part,
      ...(isWait && { wait: true as const }),
      ...(isManual && { manual: true as const }),
      ...(isWait && !isManual && chance(0.4) && { continueOnFailure: true as const }),
    };
  };
  const randomList = (depth: number): Node[] =>
    Array.from({ length: Math.floor(random() * (depth === 0 ? 7 : 4)) }, (): Node[] => {
      if (depth < 2 && chance(0.15)) {
        const part = waitingPart();
        return [{ id: `id of ${part.key}`, label: null, ...part, steps: randomList(depth + 1) }];
      }
      const step = randomStep();
      if (step.wait || step.manual || depth > 2 || !chance(0.15)) return [step];
      const uploadedBy = { step: step.id, job: `job of ${step.id}` };
      return [step, { uploadedBy, steps: randomList(depth + 1) }];
    }).flat();
  const tree = randomList(0);

  const uploaders = new Set(uploadersIn(tree));
  const stateOf = (id: string): JobState =>
    !uploaders.has(id) && chance(0.5)
      ? pick(waitingStates)
      : isQuiet || chance(0.8)
        ? pick(endedStates)
        : pick(openStates);
  const jobOf = (id: string, stepId: string, state: JobState): JobStanding => {
    const softFailed = ["failed", "canceled"].includes(state) && chance(0.2);
    return { id, stepId, state, softFailed, retriedInJobId: null };
  };
  const jobsOf = (nodes: Node[]): JobStanding[] =>
    nodes.flatMap((node) => {
      if ("steps" in node) return jobsOf(node.steps);
      const first = jobOf(`job of ${node.id}`, node.id, stateOf(node.id));
      const isWaiting = waitingStates.includes(first.state);
      if (node.manual) return [{ ...first, unblockable: isWaiting && chance(0.3) }];
      if (node.wait || !chance(0.2)) return [first];
      if (isWaiting) return [first, { ...first, id: `second job of ${node.id}` }];
      const second = jobOf(`second job of ${node.id}`, node.id, stateOf(node.id));
      const isRetry = first.state === "failed" && chance(0.5);
      return isRetry ? [{ ...first, retriedInJobId: second.id }, second] : [first, second];
    });
  return { tree, jobs: jobsOf(tree) };
}

/** A job that uploads has run. */
function uploadersIn(nodes: Node[]): string[] {
  return nodes.flatMap((node) => {
    if (!("steps" in node)) return [];
    return [...("uploadedBy" in node ? [node.uploadedBy.step] : []), ...uploadersIn(node.steps)];
  });
}
