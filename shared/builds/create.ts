import type { Tx } from "../db/database.ts";
import { newIds } from "../ids.ts";
import { type QueueOfStep, resolveStepQueues } from "../pipelines/step-queues.ts";
import { lockPipelines, type Pipeline, takeBuildNumbers } from "../pipelines/store.ts";
import type { Topic } from "../redis/events.ts";
import { isCommandStep } from "../vocabulary.ts";
import { insertJobs, type Job } from "./job-store.ts";
import { newJobs } from "./new-jobs.ts";
import type { Build } from "./store.ts";
import { requireFewJobs } from "./too-many-jobs.ts";

export interface BuildRequest {
  pipelineId: string;
  deliveryId: string | null;
  /** 1, 2, …: rebuilds by hand. Default: 0. */
  rebuild?: number;
  /** Absent: a webhook. */
  creatorId?: string;
  author?: Build["author"];
  rebuiltFromId?: string;
  source: "webhook" | "api" | "ui";
  message: string;
  commit: string;
  branch: string;
  environmentSealed: string | null;
}

/**
 * Creates a build for each request, numbered in request order, with one job per step.
 * @returns refused: requests whose pipeline is deleted or has a step without a queue; changed: topics to publish
 * after the commit
 * @throws TooManyJobs
 */
export async function createBuilds(
  tx: Tx,
  requests: BuildRequest[],
  now: Date,
): Promise<{ builds: Build[]; refused: BuildRequest[]; changed: Topic[] }> {
  const byPipeline = Map.groupBy(requests, (request) => request.pipelineId);
  const pipelines = await lockPipelines(tx, [...byPipeline.keys()]);
  requireFewJobs(pipelines, byPipeline);
  const queueOf = await resolveStepQueues(tx, pipelines);

  const builds: Build[] = [];
  const jobs: Job[] = [];
  for (const pipeline of pipelines.filter((each) => canRun(each, queueOf))) {
    const wanted = byPipeline.get(pipeline.id) ?? [];
    const firstNumber = await takeBuildNumbers(tx, pipeline.id, wanted.length);
    if (firstNumber === undefined) continue; // deleted: its requests stay refused
    byPipeline.delete(pipeline.id);
    const ids = newIds(now, wanted.length);
    const made = wanted.map((request, index) =>
      newBuild(request, pipeline, { id: ids[index] as string, number: firstNumber + index, createdAt: now }),
    );
    builds.push(...made);
    const insertion = { clusterId: pipeline.clusterId, position: 0, isWaiting: false, createdAt: now };
    jobs.push(...made.flatMap((build) => newJobs(build, pipeline.steps, queueOf, insertion)));
  }

  await tx.insertMany(tx.tables.builds, builds);
  await insertJobs(tx, jobs);
  return {
    builds,
    refused: [...byPipeline.values()].flat(),
    changed: [
      ...new Set(builds.map(({ pipelineId }): Topic => `pipeline:${pipelineId}`)),
      ...queueTopics(jobs),
    ],
  };
}

export function buildTopics({ id, pipelineId }: Build, jobs: Pick<Job, "queueId">[]): Topic[] {
  return [`build:${id}`, `pipeline:${pipelineId}`, ...queueTopics(jobs)];
}

function queueTopics(jobs: Pick<Job, "queueId">[]): Topic[] {
  return [...new Set(jobs.flatMap(({ queueId }): Topic[] => (queueId ? [`queue:${queueId}`] : [])))];
}

function canRun(pipeline: Pipeline, queueOf: QueueOfStep): boolean {
  return pipeline.steps
    .filter(isCommandStep)
    .every((step) => queueOf(pipeline.clusterId, step) !== undefined);
}

function newBuild(
  request: BuildRequest,
  pipeline: Pipeline,
  own: Pick<Build, "id" | "number" | "createdAt">,
): Build {
  return {
    ...own,
    organizationId: pipeline.organizationId,
    pipelineId: pipeline.id,
    deliveryId: request.deliveryId,
    rebuild: request.rebuild ?? 0,
    state: "scheduled",
    message: request.message,
    commit: request.commit,
    branch: request.branch,
    environment: {},
    environmentSealed: request.environmentSealed,
    source: request.source,
    creatorId: request.creatorId ?? null,
    author: request.author ?? null,
    rebuiltFromId: request.rebuiltFromId ?? null,
    pausedQueueId: null,
    isPaused: false,
    startedAt: null,
    finishedAt: null,
  };
}
