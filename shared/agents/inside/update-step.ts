import { settleBuild } from "../../builds/progress/progress.ts";
import type { StepPlace } from "../../builds/reading/step-store.ts";
import type { Build } from "../../builds/rows/build-store.ts";
import { isOfFork } from "../../builds/rows/facts.ts";
import { putNewsOfChangedJobs } from "../../builds/rows/job-news.ts";
import type { JobFacts } from "../../builds/rows/job-store.ts";
import { lockBuilds } from "../../builds/rows/progress-store.ts";
import { buildTopics } from "../../builds/rows/topics.ts";
import type { Tx } from "../../db/database.ts";
import { maxStepNameLength } from "../../pipelines/step/common.ts";
import { maxPriority } from "../../pipelines/step/members.ts";
import { findPipelineFactsById } from "../../pipelines/store.ts";
import { notFound, Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { finishedBuildStates } from "../../vocabulary.ts";
import { hasUpload, insertUpload, lockClusterOfJobs } from "../upload-store.ts";
import { requirePriorityOfPipeline } from "./fork-uploads.ts";
import { appendNotify, setCheckOutput } from "./notify.ts";
import { raiseParallelism } from "./parallelism.ts";
import { findOwnLabel, findStepId, setLabelOfStep, setPriorityOfStep } from "./step-store.ts";

export interface StepUpdate {
  step: string;
  attribute: string;
  value: string;
  appends: boolean;
  /** The caller's own, the same for each repetition. */
  id: string | undefined;
}

/**
 * Changes an attribute of a step. The same update of a job again changes nothing.
 * @throws Refusal 404, 422
 */
export async function updateStep(
  services: Services,
  { jobId, build: { id: buildId, pipelineId } }: { jobId: string; build: Build },
  update: StepUpdate,
): Promise<void> {
  const { db, clock, events } = services;
  const now = clock.now();
  const pipeline = await findPipelineFactsById(db, { id: pipelineId });
  if (!pipeline) throw notFound("build");
  const updated = await db.transaction(async (tx) => {
    await lockClusterOfJobs(tx, pipeline.clusterId);
    const [build] = await lockBuilds(tx, [buildId]);
    const stepId = build && (await findStepId(tx, buildId, update.step));
    if (!build || stepId === undefined) throw notFound("step");
    if (update.id !== undefined && (await hasUpload(tx, jobId, update.id))) return undefined;
    if (finishedBuildStates.includes(build.state))
      throw new Refusal(422, "You can only change the pipeline of a running build");
    const changed = await apply(tx, { buildId, stepId }, update, build);
    if (update.id !== undefined) await insertUpload(tx, { jobId, id: update.id });
    return { build, changed: [...changed, ...(await settleBuild(tx, build, now))] };
  });
  if (updated) events.publish(buildTopics(updated.build, updated.changed));
}

/** @returns the jobs that changed for agents */
async function apply(tx: Tx, place: StepPlace, update: StepUpdate, build: Build): Promise<JobFacts[]> {
  const { attribute, value, appends } = update;
  // Strangers write no notices.
  if (isOfFork(build) && /^notify(\.|$)/.test(attribute)) return [];
  if (attribute === "label") await setLabel(tx, place, update);
  else if (attribute === "notify") await appendNotify(tx, place, update);
  else if (attribute.startsWith("notify.")) await setCheckOutput(tx, place, update);
  else if (appends) throw new Refusal(422, "append is for label and notify only");
  else if (attribute === "priority") return setPriority(tx, place, build, priorityOf(value));
  else if (attribute === "parallelism") {
    const added = await raiseParallelism(tx, place, value);
    await putNewsOfChangedJobs(tx, build, added);
    return added;
  } else throw new Refusal(422, "attribute must be label, priority, parallelism or notify");
  return [];
}

async function setLabel(tx: Tx, place: StepPlace, { value, appends }: StepUpdate): Promise<void> {
  const label = appends ? ((await findOwnLabel(tx, place.stepId)) ?? "") + value : value;
  if (label.length > maxStepNameLength)
    throw new Refusal(422, `Step label is too long (maximum is ${maxStepNameLength} characters)`);
  await setLabelOfStep(tx, place, label === "" ? null : label);
}

async function setPriority(tx: Tx, place: StepPlace, build: Build, priority: number): Promise<JobFacts[]> {
  await requirePriorityOfPipeline(tx, build, priority);
  return setPriorityOfStep(tx, place, priority);
}

function priorityOf(value: string): number {
  const priority = /^-?\d{1,10}$/.test(value.trim()) ? Number(value) : Number.NaN;
  if (!(Math.abs(priority) <= maxPriority))
    throw new Refusal(422, `priority must be a whole number from -${maxPriority} to ${maxPriority}`);
  return priority;
}
