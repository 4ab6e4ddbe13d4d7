import { finishedBuildStates, type JobState } from "../../../shared/vocabulary.ts";
import { checkOf } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "builds" | "jobs">;
type Job = Ledger["jobs"][number];
type Build = Ledger["builds"][number];

/** States of a trigger's job that no build came before, or that may have come first. */
const mayLackBuild: JobState[] = ["canceled", "skipped", "broken", "waiting_failed", "blocked_failed"];

/** Each job of a trigger step made exactly one build, and ended as it did. */
export const checkTriggers = checkOf("triggers", function* ({ builds, jobs }: Rows) {
  const byId = new Map(builds.map((build) => [build.id, build]));
  const triggers = new Map(jobs.filter(({ type }) => type === "trigger").map((job) => [job.id, job]));
  const made = Map.groupBy(builds, ({ triggeredByJobId }) => triggeredByJobId);
  for (const { id, triggeredByJobId } of builds)
    if (triggeredByJobId && !triggers.has(triggeredByJobId)) yield `build ${id} is of no trigger step`;
  for (const job of triggers.values()) {
    const problem = problemOf(job, byId.get(job.buildId), made.get(job.id) ?? []);
    if (problem) yield `job ${job.id} (${job.state}) ${problem}`;
  }
});

function problemOf(
  { state, options }: Job,
  parent: Build | undefined,
  [build, ...others]: Build[],
): string | undefined {
  if (others.length > 0) return `made ${others.length + 1} builds`;
  if (!build) return mayLackBuild.includes(state) ? undefined : "made no build";
  if (options?.trigger?.async) return state === "passed" ? undefined : "did not pass with its build";
  if (!finishedBuildStates.includes(build.state)) return `ended before its build: ${build.state}`;
  const expected = build.state === "not_run" ? "passed" : build.state;
  // Its build may have ended before it was canceled, and no step of a canceled build follows any more.
  return state === expected || state === "canceled" || parent?.state === "canceled"
    ? undefined
    : `made a build that ${build.state}`;
}
