import type { Topic } from "../../redis/events.ts";
import type { Build } from "./build-store.ts";
import type { Job } from "./job-store.ts";

/** The topics to publish when a build and some of its jobs have changed. */
export function buildTopics({ id, pipelineId }: Build, jobs: Pick<Job, "queueId">[]): Topic[] {
  return [`build:${id}`, `pipeline:${pipelineId}`, ...queueTopics(jobs)];
}

export function queueTopics(jobs: Pick<Job, "queueId">[]): Topic[] {
  return [...new Set(jobs.flatMap(({ queueId }): Topic[] => (queueId ? [`queue:${queueId}`] : [])))];
}
