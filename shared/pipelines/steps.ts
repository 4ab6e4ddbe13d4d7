import { z } from "zod";
import { anything, documentationOf, isMap, readEntries } from "../collections.ts";
import { andMore, excerpt, maxProblems } from "../refusal.ts";
import { stored } from "../sharing/bounds.ts";
import {
  type CommandStep,
  isCommandStep,
  isGroupStep,
  isManualStep,
  isTriggerStep,
  type PlainStep,
  type Step,
} from "../vocabulary.ts";
import type { Environment } from "./environment.ts";
import { combinationsOf, countCombinations, tokensOf } from "./matrix.ts";
import { conditionChecker, unescapeDollars } from "./step/conditions.ts";
import { formatChecker, formatOf } from "./step/formats.ts";
import { anyStep } from "./step/step.ts";

// Steps as callers send them: by REST, pages and pipeline upload alike. Stored steps can be sent again (written-steps.ts).

/** To parse 2,000 blocks the event loop for 140 ms. The setting STEPS_PER_PIPELINE may allow fewer in a pipeline. */
const maxSteps = 500;
/** Limits of a build, uploaded steps included. Each parallel job has a copy of its step. */
export const { jobs: maxJobsOfBuild, bytes: maxJobBytes } = stored.jobs.max;

export interface UploadedPipeline {
  /** With the defaults of their document. */
  steps: Step[];
  /** Variables of jobs that have not started, of earlier documents too. */
  env?: Environment;
  /** Members that have no effect here, as they came. */
  others?: Record<string, unknown>;
}

type Path = (string | number)[];
type Context = z.core.$RefinementCtx;

interface ListOptions {
  max: number;
  /** Stands for the whole list if it is absent or null. */
  none?: Step[];
  /** Makes the text of a condition that is evaluated. */
  readCondition?: (text: string) => string;
}

/** Parses a list of steps. A problem of a step says its member, and which step it is if there are several. */
function stepList(options: ListOptions) {
  return (options.none ? anything().optional() : anything())
    .transform((given, context): Step[] => {
      if (options.none && (given === undefined || given === null)) return options.none;
      const problem = listProblem(given, options);
      if (problem === undefined) return parseSteps(given as unknown[], options, context);
      context.addIssue(problem);
      return z.NEVER;
    })
    .meta(documentationOf(z.array(anyStep).max(options.max)));
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

function parseSteps(given: unknown[], { readCondition }: ListOptions, context: Context): Step[] {
  const { sound, problems } = readEntries(given.entries(), anyStep);
  const steps = sound.map(([, step]) => step);
  if (problems.length === 0) problems.push(...problemsAmong(steps, readCondition));
  const isOne = given.length === 1 && !problems.some(({ path }) => path[1] === "steps");
  const messages = problems.map(({ path, message }) => ({
    path,
    message:
      message === andMore ? message : isOne ? namingMember(path, message) : `${placeOf(path)}: ${message}`,
  }));
  const unique = new Map(messages.map((each) => [each.message, each]));
  for (const issue of unique.values()) context.addIssue({ code: "custom", ...issue });
  if (unique.size > 0) return z.NEVER;

  if (countJobs(steps) > maxJobsOfBuild)
    context.addIssue(`Steps become more than ${maxJobsOfBuild.toLocaleString("en")} jobs`);
  else if (jobBytes(steps) > maxJobBytes) context.addIssue(tooLarge);
  return steps;
}

/** `steps[2].retry.automatic[0].limit` */
/** The message about the only step, which says its member. */
function namingMember(path: PropertyKey[], message: string): string {
  const [step, member] = path;
  if (member === undefined || message.includes(String(member))) return message;
  return `${placeOf(path).slice(placeOf([step as PropertyKey]).length + 1)}: ${message}`;
}

function placeOf(path: PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${excerpt(String(part))}`));
  return `steps${parts.join("")}`;
}

/** Problems of conditions, formats and keys, once all steps are sound. */
function problemsAmong(steps: Step[], readCondition = (text: string) => text) {
  const problems: { path: Path; message: string }[] = [];
  const conditionProblem = conditionChecker();
  const formatProblem = formatChecker();
  const keys = new Set<string>();
  const check = (step: Step, at: Path) => {
    if (problems.length > maxProblems) return;
    const { key, if: condition } = step;
    const problem = condition === undefined ? undefined : conditionProblem(readCondition(condition));
    if (problem !== undefined) problems.push({ path: [...at, "if"], message: problem });
    if (key !== undefined && keys.has(key))
      problems.push({
        path: [...at, "key"],
        message: `The key "${excerpt(key)}" has already been used by another step in this build`,
      });
    if (key !== undefined) keys.add(key);
    for (const [index, field] of (isManualStep(step) ? (step.fields ?? []) : []).entries()) {
      const format = formatOf(field);
      const ofFormat = format === undefined ? undefined : formatProblem(format);
      if (ofFormat !== undefined)
        problems.push({ path: [...at, "fields", index, "format"], message: ofFormat });
    }
    if (isGroupStep(step))
      for (const [index, each] of step.steps.entries()) check(each, [...at, "steps", index]);
  };
  for (const [index, step] of steps.entries()) check(step, [index]);
  if (problems.length > maxProblems) problems.push({ path: [], message: andMore });
  return problems;
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

export const pipelineSteps = stepList({ max: maxSteps, readCondition: unescapeDollars });

export const uploadedSteps = stepList({ max: maxSteps, none: [] });
