import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "builds" | "jobs" | "pipelines">;

/** The builds of a pipeline are numbered 1, 2, 3, …, and each has a job for each step, besides retries. */
export function checkBuilds({ builds, jobs, pipelines }: Rows): Discrepancy[] {
  const first = jobs.filter(({ retryOfJobId }) => !retryOfJobId);
  const jobsOf = Map.groupBy(first, ({ buildId }) => buildId);
  const buildsOf = Map.groupBy(builds, ({ pipelineId }) => pipelineId);
  return pipelines.flatMap(({ id, slug, steps, lastBuildNumber }) => {
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
        .filter((build) => jobsOf.get(build.id)?.length !== steps.length)
        .map((build) =>
          discrepancy("builds", `${slug}: build ${build.number} does not have ${steps.length} jobs`),
        ),
    ];
  });
}
