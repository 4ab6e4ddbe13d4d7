import { and, eq, inArray } from "drizzle-orm";
import { countOf } from "../../db/columns.ts";
import type { Db } from "../../db/database.ts";
import { maxCounted } from "../../db/list-page.ts";
import { isOneOf, prepared } from "../../db/prepared.ts";
import {
  type BuildState,
  type JobState,
  leasedJobStates,
  runningBuildStates,
  unfinishedBuildStates,
  waitingJobStates,
} from "../../vocabulary.ts";

export interface PipelineCounts {
  id: string;
  scheduledBuilds: number;
  runningBuilds: number;
  scheduledJobs: number;
  runningJobs: number;
  waitingJobs: number;
}

/** Counts unfinished builds and jobs of pipelines, up to 1,000 of each. Looks at the jobs of as many builds. */
export const countWorkOfPipelines = prepared<{ ids: string[] }, PipelineCounts, Db>(({ offLoop }: Db) => {
  const { builds, jobs, pipelines } = offLoop.tables;
  const buildsIn = (states: BuildState[]) =>
    offLoop
      .select({ id: builds.id })
      .from(builds)
      .where(and(eq(builds.pipelineId, pipelines.id), inArray(builds.state, states)))
      .limit(maxCounted);
  const jobsIn = (states: JobState[]) => {
    const unfinished = buildsIn(unfinishedBuildStates).as("unfinished");
    const found = offLoop
      .select({ id: jobs.id })
      .from(unfinished)
      .innerJoin(jobs, eq(jobs.buildId, unfinished.id))
      .where(and(eq(jobs.type, "script"), inArray(jobs.state, states)))
      .limit(maxCounted);
    return countOf(found);
  };
  return offLoop
    .select({
      id: pipelines.id,
      scheduledBuilds: countOf(buildsIn(["scheduled"])),
      runningBuilds: countOf(buildsIn(runningBuildStates)),
      scheduledJobs: jobsIn(["scheduled", "reserved"]),
      runningJobs: jobsIn(leasedJobStates),
      waitingJobs: jobsIn([...waitingJobStates, "limited"]),
    })
    .from(pipelines)
    .where(isOneOf(pipelines.id, "ids"));
});
