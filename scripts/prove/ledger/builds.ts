import { countJobs } from "../../../shared/pipelines/steps.ts";
import { jobsOfUpload } from "../installation/steps.ts";
import { listOf } from "./dependencies.ts";
import { checkOf } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "builds" | "jobs" | "pipelines">;

/**
 * The builds of a pipeline are numbered 1, 2, 3, …, and each has the jobs of its steps, besides retries. The
 * steps that a job uploads are there as a whole.
 */
export const checkBuilds = checkOf("builds", function* ({ builds, jobs, pipelines }: Rows) {
  const first = Map.groupBy(
    jobs.filter((job) => !job.retryOfJobId),
    listOf,
  );
  for (const [name, list] of first)
    if (name !== undefined && list.length !== jobsOfUpload)
      yield `the uploaded list ${name} has ${list.length} jobs`;
  const jobsOf = Map.groupBy(first.get(undefined) ?? [], ({ buildId }) => buildId);
  const buildsOf = Map.groupBy(builds, ({ pipelineId }) => pipelineId);
  for (const { id, slug, steps, lastBuildNumber } of pipelines) {
    const own = buildsOf.get(id) ?? [];
    const numbers = own.map(({ number }) => number).sort((a, b) => a - b);
    const wrong = numbers.findIndex((number, index) => number !== index + 1);
    if (wrong !== -1) yield `${slug}: build ${wrong + 1} is missing or doubled`;
    if (lastBuildNumber !== numbers.length)
      yield `${slug}: ${numbers.length} builds, but the last number is ${lastBuildNumber}`;
    const count = countJobs(steps);
    for (const build of own)
      if (jobsOf.get(build.id)?.length !== count)
        yield `${slug}: build ${build.number} does not have ${count} jobs`;
  }
});
