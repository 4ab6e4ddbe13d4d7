import { z } from "zod";
import { anything, documentationOf, isMap, type ProblemAt } from "../collections.ts";
import { doAtOnce, doWithPauses, type Pieces } from "../process/loop-pauses.ts";
import { andMore, excerpt, maxProblems } from "../refusal.ts";
import { stored } from "../sharing/bounds.ts";
import {
  type CommandStep,
  isCommandStep,
  isGroupStep,
  isManualStep,
  isTriggerStep,
  type Notice,
  type PlainStep,
  type Step,
} from "../vocabulary.ts";
import type { Environment } from "./environment.ts";
import { combinationsOf, countCombinations, tokensOf } from "./matrix.ts";
import { noticesOf } from "./notify/notices.ts";
import { conditionChecker, stepNoticeChecker, unescapeDollars } from "./step/conditions.ts";
import { formatChecker, formatOf } from "./step/formats.ts";
import { anyStep, readStep } from "./step/step.ts";

// Steps as callers send them: by REST, pages and pipeline upload alike. Stored steps can be sent again (written-steps.ts).

/** To read 500 takes up to 140 ms: doors read them ahead. STEPS_PER_PIPELINE may allow fewer in a pipeline. */
const maxSteps = 500;
/** Limits of a build, uploaded steps included. Each parallel job has a copy of its step. */
export const { jobs: maxJobsOfBuild, bytes: maxJobBytes } = stored.jobs.max;

export interface UploadedPipeline {
  /** With the defaults of their document. */
  steps: Step[];
  /** Variables of jobs that have not started, of earlier documents too. */
  env?: Environment;
  /** The notices of the build. */
  notify?: Notice[];
  /** Members that have no effect here, as they came. */
  others?: Record<string, unknown>;
}

type Context = z.core.$RefinementCtx;

interface ListOptions {
  max: number;
  /** Stands for the whole list if it is absent or null. */
  none?: Step[];
  /** Makes the text of a condition that is evaluated. */
  readCondition?: (text: string) => string;
}

interface Read {
  steps: Step[];
  problems: ProblemAt[];
  /** Of all steps together, if each is sound. */
  sizeProblem?: string | undefined;
}

/** Parses a list of steps. A problem of a step says its member, and which step it is if there are several. */
function stepList(options: ListOptions) {
  const ahead = new WeakMap<unknown[], Read>();
  const schema = (options.none ? anything().optional() : anything())
    .transform((given, context): Step[] => {
      if (options.none && (given === undefined || given === null)) return options.none;
      const problem = listProblem(given, options);
      if (problem !== undefined) {
        context.addIssue(problem);
        return z.NEVER;
      }
      const list = given as unknown[];
      return finish(list, ahead.get(list) ?? doAtOnce(readList(list, options)), context);
    })
    .meta(documentationOf(z.array(anyStep).max(options.max)));
  /** Reads a list before the schema does, with pauses for others. Nobody may change it in between. */
  const readAhead = async (given: unknown): Promise<void> => {
    if (!Array.isArray(given) || listProblem(given, options) !== undefined) return;
    ahead.set(given, await doWithPauses(readList(given, options)));
  };
  return { schema, readAhead };
}

/** Looks at the whole before any step is parsed. */
function listProblem(given: unknown, { max }: ListOptions): string | undefined {
  if (given === undefined || given === null) return "Steps can't be blank";
  if (!Array.isArray(given)) return "Steps must be a list";
  return countSteps(given) > max ? `Steps can be ${max} at most` : undefined;
}

/** Steps in groups count too, and an empty group as one. */
function countSteps(given: unknown[]): number {
  const inner = (step: unknown) => (isMap(step) && Array.isArray(step.steps) ? step.steps.length : 1);
  return given.reduce<number>((total, step) => total + Math.max(1, inner(step)), 0);
}

/** Stops once it has more problems than an answer names. */
function* readList(given: unknown[], { readCondition }: ListOptions): Pieces<Read> {
  const steps: Step[] = [];
  const problems: ProblemAt[] = [];
  for (const [index, each] of given.entries()) {
    if (problems.length > maxProblems) {
      problems.push({ path: [], message: andMore });
      break;
    }
    const { data, error } = yield* readStep(each);
    if (!error) steps.push(data);
    else for (const { path, message } of error.issues) problems.push({ path: [index, ...path], message });
    yield;
  }
  if (problems.length === 0) problems.push(...(yield* problemsAmong(steps, readCondition)));
  if (problems.length > 0) return { steps, problems };
  return { steps, problems, sizeProblem: yield* findSizeProblem(steps) };
}

function* findSizeProblem(steps: Step[]): Pieces<string | undefined> {
  if (countJobs(steps) > maxJobsOfBuild)
    return `Steps become more than ${maxJobsOfBuild.toLocaleString("en")} jobs`;
  let bytes = 0;
  for (const step of plainSteps(steps)) {
    bytes += bytesOf(step);
    if (bytes > maxJobBytes) return tooLarge;
    yield;
  }
  return undefined;
}

function finish(given: unknown[], { steps, problems, sizeProblem }: Read, context: Context): Step[] {
  const isOne = given.length === 1 && !problems.some(({ path }) => path[1] === "steps");
  const messages = problems.map(({ path, message }) => ({
    path,
    message:
      message === andMore ? message : isOne ? namingMember(path, message) : `${placeOf(path)}: ${message}`,
  }));
  const unique = new Map(messages.map((each) => [each.message, each]));
  for (const issue of unique.values()) context.addIssue({ code: "custom", ...issue });
  if (unique.size > 0) return z.NEVER;
  if (sizeProblem !== undefined) context.addIssue(sizeProblem);
  return steps;
}

/** The message about the only step, which says its member. */
function namingMember(path: PropertyKey[], message: string): string {
  const [step, member] = path;
  if (member === undefined || message.includes(String(member))) return message;
  return `${placeOf(path).slice(placeOf([step as PropertyKey]).length + 1)}: ${message}`;
}

/** `steps[2].retry.automatic[0].limit` */
function placeOf(path: PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${excerpt(String(part))}`));
  return `steps${parts.join("")}`;
}

/** Problems of conditions, formats and keys, once all steps are sound. */
function* problemsAmong(steps: Step[], readCondition = (text: string) => text): Pieces<ProblemAt[]> {
  const problems: ProblemAt[] = [];
  const conditionProblem = conditionChecker();
  const ofNotices = stepNoticeChecker();
  const formatProblem = formatChecker();
  const keys = new Set<string>();
  for (const [at, step] of placesOf(steps)) {
    if (problems.length > maxProblems) break;
    const { key, if: condition } = step;
    const problem = condition === undefined ? undefined : conditionProblem(readCondition(condition));
    if (problem !== undefined) problems.push({ path: [...at, "if"], message: problem });
    if (key !== undefined && keys.has(key))
      problems.push({
        path: [...at, "key"],
        message: `The key "${excerpt(key)}" has already been used by another step in this build`,
      });
    if (key !== undefined) keys.add(key);
    for (const [index, { if: asked }] of noticesOf(step).entries()) {
      const message = asked === undefined ? undefined : ofNotices(readCondition(asked));
      if (message !== undefined) problems.push({ path: [...at, "notify", index, "if"], message });
    }
    for (const [index, field] of (isManualStep(step) ? (step.fields ?? []) : []).entries()) {
      const format = formatOf(field);
      const ofFormat = format === undefined ? undefined : formatProblem(format);
      if (ofFormat !== undefined)
        problems.push({ path: [...at, "fields", index, "format"], message: ofFormat });
    }
    yield;
  }
  if (problems.length > maxProblems) problems.push({ path: [], message: andMore });
  return problems;
}

function placesOf(steps: Step[]): [PropertyKey[], Step][] {
  return steps.flatMap((step, at): [PropertyKey[], Step][] => {
    const inner = isGroupStep(step) ? step.steps : [];
    return [[[at], step], ...inner.map((each, index): [PropertyKey[], Step] => [[at, "steps", index], each])];
  });
}

export const tooLarge = "Steps are too large for so many jobs";

export function countJobs(steps: Step[]): number {
  return plainSteps(steps).reduce((total, step) => total + copiesOf(step), 0);
}

/** Of the steps that jobs have, with the values of their matrix. */
export function jobBytes(steps: Step[]): number {
  return plainSteps(steps).reduce((total, step) => total + bytesOf(step), 0);
}

function plainSteps(steps: Step[]): PlainStep[] {
  return steps.flatMap((step) => (isGroupStep(step) ? step.steps : [step]));
}

function copiesOf(step: PlainStep): number {
  if (isTriggerStep(step)) return step.parallelism ?? 1;
  if (!isCommandStep(step)) return 1;
  return step.matrix ? countCombinations(step.matrix) : (step.parallelism ?? 1);
}

function bytesOf(step: PlainStep): number {
  const { others: _, ...members } = step;
  const plain = Buffer.byteLength(JSON.stringify(members));
  const filled = isCommandStep(step) && step.matrix ? addedByMatrix(step, step.matrix) : 0;
  // Jobs of a signed matrix have their step as it was signed, too.
  const isTwice = isCommandStep(step) && step.matrix !== undefined && step.signature !== undefined;
  return (isTwice ? 2 : 1) * copiesOf(step) * plain + filled;
}

/** Values may be much longer than their tokens. */
function addedByMatrix(step: CommandStep, matrix: NonNullable<CommandStep["matrix"]>): number {
  const tokens = [...tokensOf(step)];
  if (tokens.length === 0) return 0;
  return combinationsOf(matrix).reduce((total, { permutation }) => {
    const added = tokens.map(([name, { amount, length }]) => {
      const bytes = Buffer.byteLength(JSON.stringify(permutation[name] ?? "")) - 2;
      return amount * bytes - length;
    });
    return added.reduce((sum, each) => sum + each, total);
  }, 0);
}

export const { schema: pipelineSteps, readAhead: readPipelineSteps } = stepList({
  max: maxSteps,
  readCondition: unescapeDollars,
});

export const { schema: uploadedSteps, readAhead: readUploadedSteps } = stepList({ max: maxSteps, none: [] });
