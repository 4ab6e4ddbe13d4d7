import type { ListedJob } from "../../../shared/builds/reading/job-list-store.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { commonTitle } from "./stages/stages.tsx";

/** A row, or a group or step of several jobs that all passed. */
export type JobItem = ListedJob | { id: string; title: string; jobs: [ListedJob, ...ListedJob[]] };

/** Takes the passed jobs of a group, or of a step with several, together. */
export function foldPassed(rows: ListedJob[]): JobItem[] {
  const runs: ListedJob[][] = [];
  for (const row of rows) {
    const last = runs.at(-1);
    if (last?.[0] && ownerOf(last[0].job) === ownerOf(row.job)) last.push(row);
    else runs.push([row]);
  }
  return runs.flatMap((run): JobItem[] => {
    const [first, ...others] = run;
    if (!first || others.length === 0 || run.some(({ job }) => job.state !== "passed")) return run;
    return [{ id: ownerOf(first.job), title: titleOfRun(first.job, run), jobs: [first, ...others] }];
  });
}

function ownerOf({ stepId, options }: Job): string {
  return options?.group?.id ?? stepId;
}

function titleOfRun(first: Job, run: ListedJob[]): string {
  const group = first.options?.group;
  if (group) return group.label ?? group.key ?? "Group";
  return commonTitle([first, ...run.slice(1).map(({ job }) => job)]);
}
