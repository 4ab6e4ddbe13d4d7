import { countJobs } from "../../../shared/pipelines/steps.ts";
import { jobsOfUpload } from "../installation/steps.ts";
import { listOf } from "./dependencies.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "builds" | "jobs" | "pipelines">;

/**
 * The builds of a pipeline are numbered 1, 2, 3, …, and each has the jobs of its steps, besides retries. The
 * steps that a job uploads are there as a whole.
 */
export function checkBuilds({ builds, jobs, pipelines }: Rows): Discrepancy[] {
  const first = jobs.filter((job) => !job.retryOfJobId && listOf(job) === undefined);
  const jobsOf = Map.groupBy(first, ({ buildId }) => buildId);
  const lists = Map.groupBy(
    jobs.filter((job) => !job.retryOfJobId),
    listOf,
  );
  lists.delete(undefined);
  const buildsOf = Map.groupBy(builds, ({ pipelineId }) => pipelineId);
  const torn = [...lists].filter(([, list]) => list.length !== jobsOfUpload);
  const wrongLists = torn.map(([name, { length }]) =>
    discrepancy("builds", `the uploaded list ${name} has ${length} jobs`),
  );
  const ofPipelines = pipelines.flatMap(({ id, slug, steps, lastBuildNumber }) => {
    const own = buildsOf.get(id) ?? [];
    const numbers = own.map(({ number }) => number).sort((a, b) => a - b);
    const wrong = numbers.findIndex((number, index) => number !== index + 1);
    return [
      ...(wrong === -1 ? [] : [discrepancy("builds", `${slug}: build ${wrong + 1} is missing or doubled`)]),
      ...(lastBuildNumber === numbers.length
        ? []
        : [
            discrepancy(
              "builds",
              `${slug}: ${numbers.length} builds, but the last number is ${lastBuildNumber}`,
            ),
          ]),
      ...own
        .filter((build) => jobsOf.get(build.id)?.length !== countJobs(steps))
        .map((build) =>
          discrepancy("builds", `${slug}: build ${build.number} does not have ${countJobs(steps)} jobs`),
        ),
    ];
  });
  return [...wrongLists, ...ofPipelines];
}
