import type { Tx } from "../db/database.ts";
import { newIds } from "../ids.ts";
import { type QueueOfStep, resolveStepQueues } from "../pipelines/step-queues.ts";
import { lockPipelines, type Pipeline, takeBuildNumbers } from "../pipelines/store.ts";
import type { Topic } from "../redis/events.ts";
import type { Build, Job } from "./store.ts";

export interface BuildRequest {
  pipelineId: string;
  deliveryId: string | null;
  /** 1, 2, …: rebuilds by hand. Default: 0. */
  rebuild?: number;
  /** Absent: a webhook. */
  creatorId?: string;
  source: "webhook";
  message: string;
  commit: string;
  branch: string;
  environmentSealed: string | null;
}

/**
 * Creates a build for each request, numbered in request order, with one job per step.
 * @returns refused: requests whose pipeline is deleted or has a step without a queue; changed: topics to publish
 * after the commit
 */
export async function createBuilds(
  tx: Tx,
  requests: BuildRequest[],
  now: Date,
): Promise<{ builds: Build[]; refused: BuildRequest[]; changed: Topic[] }> {
  const byPipeline = Map.groupBy(requests, (request) => request.pipelineId);
  const pipelines = await lockPipelines(tx, [...byPipeline.keys()]);
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
    jobs.push(...made.flatMap((build) => newJobs(build, pipeline, queueOf)));
  }

  await tx.insertMany(tx.tables.builds, builds);
  await tx.insertMany(tx.tables.jobs, jobs);
  return {
    builds,
    refused: [...byPipeline.values()].flat(),
    changed: [
      ...new Set(builds.map(({ pipelineId }): Topic => `pipeline:${pipelineId}`)),
      ...new Set(jobs.map(({ queueId }): Topic => `queue:${queueId}`)),
    ],
  };
}

function canRun(pipeline: Pipeline, queueOf: QueueOfStep): boolean {
  return pipeline.steps.every((step) => queueOf(pipeline.clusterId, step) !== undefined);
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
    pausedQueueId: null,
    isPaused: false,
    startedAt: null,
    finishedAt: null,
  };
}

function newJobs(build: Build, pipeline: Pipeline, queueOf: QueueOfStep): Job[] {
  const ids = newIds(build.createdAt, pipeline.steps.length);
  return pipeline.steps.map((step, index) => ({
    id: ids[index] as string,
    buildId: build.id,
    queueId: queueOf(pipeline.clusterId, step) as string,
    label: step.label ?? null,
    command: step.command,
    state: "scheduled",
    exitStatus: null,
    dispatchPausedAt: null,
    assignedAt: null,
    createdAt: build.createdAt,
    startedAt: null,
    finishedAt: null,
  }));
}
