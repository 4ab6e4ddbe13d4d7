import type { Tx } from "../db/database.ts";
import { newIds } from "../ids.ts";
import { type QueueOfStep, resolveStepQueues } from "../pipelines/step-queues.ts";
import { lockPipelines, type Pipeline, takeBuildNumbers } from "../pipelines/store.ts";
import type { Topic } from "../redis/events.ts";
import type { Build, Job } from "./store.ts";

/** What is to be built. */
export interface BuildRequest {
  pipelineId: string;
  deliveryId: string | null;
  /** Absent: 0, made by the delivery's job. See the table. */
  rebuild?: number;
  /** Absent: nobody, a webhook. */
  creatorId?: string;
  source: "webhook";
  message: string;
  commit: string;
  branch: string;
  environment: Record<string, string>;
}

/**
 * Create a build for each request, numbered in their order within a pipeline, with one job per step.
 * @returns the builds, the requests that cannot be built, now or later, because their pipeline is gone or a step has no queue;
 * and what has changed for those who watch, once the transaction is committed
 */
export async function createBuilds(
  tx: Tx,
  requests: BuildRequest[],
  now: Date,
): Promise<{ builds: Build[]; refused: BuildRequest[]; changed: Topic[] }> {
  const byPipeline = Map.groupBy(requests, (request) => request.pipelineId);
  const pipelines = await lockPipelines(tx, [...byPipeline.keys()]);
  const queueOf = await resolveStepQueues(tx, pipelines);
  const buildable = pipelines.filter((pipeline) => canRun(pipeline, queueOf));

  const builds: Build[] = [];
  const jobs: Job[] = [];
  for (const pipeline of buildable) {
    const wanted = byPipeline.get(pipeline.id) ?? [];
    const firstNumber = await takeBuildNumbers(tx, pipeline.id, wanted.length);
    if (firstNumber === undefined) continue; // gone since it was read: its requests stay among the refused
    byPipeline.delete(pipeline.id);
    const ids = newIds(now, wanted.length);
    wanted.forEach((request, index) => {
      const build = newBuild({
        request,
        pipeline,
        id: ids[index] as string,
        number: firstNumber + index,
        now,
      });
      builds.push(build);
      jobs.push(...newJobs(build, pipeline, queueOf));
    });
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

function newBuild(of: {
  request: BuildRequest;
  pipeline: Pipeline;
  id: string;
  number: number;
  now: Date;
}): Build {
  const { request, pipeline, id, number, now } = of;
  return {
    id,
    organizationId: pipeline.organizationId,
    pipelineId: pipeline.id,
    number,
    deliveryId: request.deliveryId,
    rebuild: request.rebuild ?? 0,
    state: "scheduled",
    message: request.message,
    commit: request.commit,
    branch: request.branch,
    environment: request.environment,
    source: request.source,
    creatorId: request.creatorId ?? null,
    pausedQueueId: null,
    createdAt: now,
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
