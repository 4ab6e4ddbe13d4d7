import { matchesBranch } from "../conditions/branches.ts";
import { combinationsOf, stepFiller } from "../pipelines/matrix.ts";
import type { Problem } from "../refusal.ts";
import {
  type CommandStep,
  type CommonStep,
  type GroupStep,
  isCommandStep,
  isGroupStep,
  isManualStep,
  isTriggerStep,
  type Matrix,
  type Node,
  type Notice,
  type PlainStep,
  type Step,
  type StepNode,
  type StepOptions,
} from "../vocabulary.ts";

/** Decides which steps are left out, when they enter their build. */
export interface ExpansionFacts {
  branch: string;
  test: TestCondition;
}

/** Evaluates the text of a condition. */
export type TestCondition = (text: string) => { result?: boolean; problem?: string };

/** A job that a step becomes. */
export interface DraftedJob {
  id: string;
  /** The id of the step's first job. */
  stepId: string;
  /** With the values of its matrix. */
  step: PlainStep;
  group?: GroupOfJob;
  parallel?: { index: number; total: number };
  matrix?: Record<string, string>;
  /** Of a matrix with a signature: what was signed. */
  signed?: Pick<CommandStep, "command" | "env" | "plugins" | "matrix" | "secrets">;
  /** The step was left out for this reason. Null: without one. */
  broken?: string | null;
}

export interface GroupOfJob {
  id: string;
  key?: string;
  label: string | null;
  /** Of its first job only. */
  notify?: Notice[];
}

export interface Expansion {
  tree: Node[];
  jobs: DraftedJob[];
}

/**
 * Makes of steps the tree and the jobs that they become, in their order. Conditions and branches are decided here, for good.
 * @param newId makes rising ids
 * @returns problems of conditions that could not be evaluated
 */
export function expandSteps(
  steps: Step[],
  { branch, test }: ExpansionFacts,
  newId: () => string,
): Expansion | { problems: Problem[] } {
  const jobs: DraftedJob[] = [];
  const problems: Problem[] = [];
  const expandStep = (
    step: PlainStep,
    place: string,
    group?: { step: GroupStep; ofJobs: GroupOfJob; isFirst: boolean },
  ): Node => {
    const whole = [...(group ? [group.step] : []), step];
    const { reason: broken, problem } = leaveOut(whole, branch, test);
    if (problem !== undefined) problems.push({ field: "steps", message: `${place}.if: ${problem}` });
    const made = jobsOf(step, newId);
    const [first] = made as [JobOfStep];
    const common = {
      stepId: first.id,
      ...(group && { group: group.ofJobs }),
      ...(broken !== undefined && { broken }),
    };
    const notify = group?.isFirst ? group.step.notify : undefined;
    for (const job of made)
      jobs.push({
        ...job,
        ...common,
        ...(job === first && group && notify && { group: { ...group.ofJobs, notify } }),
      });
    return { id: first.id, ...waitingOf(step), ...(broken === undefined && barrierOf(step)) };
  };
  const tree = steps.map((step, index): Node => {
    const place = `steps[${index}]`;
    if (!isGroupStep(step)) return expandStep(step, place);
    const { key, label = null } = step;
    const ofJobs = { id: newId(), ...(key !== undefined && { key }), label };
    const inner = step.steps.map((each, at) =>
      expandStep(each, `${place}.steps[${at}]`, { step, ofJobs, isFirst: at === 0 }),
    );
    return { id: ofJobs.id, label, ...waitingOf(step), steps: inner };
  });
  return problems.length > 0 ? { problems } : { tree, jobs };
}

function barrierOf(step: PlainStep): Pick<StepNode, "wait" | "manual" | "continueOnFailure"> {
  if (isManualStep(step)) return { ...(step.type === "block" && { wait: true }), manual: true };
  if (isCommandStep(step) || isTriggerStep(step)) return {};
  return { wait: true, ...(step.continue_on_failure && { continueOnFailure: true }) };
}

function waitingOf({ key, depends_on, allow_dependency_failure }: CommonStep) {
  return {
    ...(key !== undefined && { key }),
    ...(depends_on && { dependsOn: depends_on }),
    ...(allow_dependency_failure && { allowDependencyFailure: true as const }),
  };
}

/** True if the expansion depends on the branch. */
export function namesBranches(steps: Step[]): boolean {
  return steps.some(
    (step) => step.branches !== undefined || (isGroupStep(step) && namesBranches(step.steps)),
  );
}

type Measured = Pick<CommonStep, "if" | "branches"> & Pick<CommandStep, "skip">;

/** A group and its step are left out for the reasons of both. */
function leaveOut(
  measured: Measured[],
  branch: string,
  test: TestCondition,
): { reason?: string | null; problem?: string } {
  for (const { if: condition } of measured) {
    const { result = true, problem } = condition === undefined ? {} : test(condition);
    if (problem !== undefined) return { problem };
    if (!result) return { reason: "conditional_failed" };
  }
  if (measured.some(({ branches }) => branches !== undefined && !matchesBranch(branches, branch)))
    return { reason: "branch_mismatch" };
  const skip = measured.map((each) => each.skip).find((each) => each);
  return skip ? { reason: reasonOf(skip) } : {};
}

/** True is no reason. */
function reasonOf(skip: boolean | string): string | null {
  return typeof skip === "string" ? skip : null;
}

type JobOfStep = Omit<DraftedJob, "stepId">;

function jobsOf(step: PlainStep, newId: () => string): JobOfStep[] {
  if (!isCommandStep(step) && !isTriggerStep(step)) return [{ id: newId(), step }];
  if (isCommandStep(step) && step.matrix) return jobsOfMatrix(step, step.matrix, newId);
  const { parallelism: total = 1, ...plain } = step;
  return Array.from({ length: total }, (_, index) => ({
    id: newId(),
    step: plain,
    ...(step.parallelism !== undefined && { parallel: { index, total } }),
  }));
}

function jobsOfMatrix(step: CommandStep, matrix: Matrix, newId: () => string): JobOfStep[] {
  const { matrix: _, ...plain } = step;
  const fill = stepFiller(plain);
  return combinationsOf(matrix).map(({ permutation, skip, soft_fail }) => ({
    id: newId(),
    step: { ...fill(permutation), ...softFailOf(soft_fail) },
    matrix: permutation,
    ...(step.signature && { signed: signedPart(step) }),
    ...(skip && { broken: reasonOf(skip) }),
  }));
}

function signedPart({
  command,
  env,
  plugins,
  matrix,
  secrets,
}: CommandStep): NonNullable<DraftedJob["signed"]> {
  const others = { ...(plugins && { plugins }), ...(matrix && { matrix }), ...(secrets && { secrets }) };
  return { command, ...(env && { env }), ...others };
}

function softFailOf(soft_fail: StepOptions["soft_fail"]): Pick<StepOptions, "soft_fail"> {
  return soft_fail === undefined ? {} : { soft_fail };
}
