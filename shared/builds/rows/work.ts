import type { Build } from "./build-store.ts";
import type { Job } from "./job-store.ts";

// The work of a build is the time in which at least one of its jobs ran: not the time in which it waited for agents, for
// people or for a retry. Its row measures it (build-states-store.ts). A build that nobody measured from its first start on
// counts from its first start to its last end.

export type Worked = Pick<Build, "startedAt" | "finishedAt" | "workedMs" | "workingSince">;

/**
 * The work of a build, as a span of the same length.
 * @returns `to` is null while it grows. Undefined: none of its jobs has started
 */
export function workOf({ startedAt, finishedAt, workedMs, workingSince }: Worked) {
  if (!startedAt) return undefined;
  if (workedMs === null) return { from: startedAt, to: finishedAt };
  if (workingSince) return { from: new Date(workingSince.getTime() - workedMs), to: finishedAt };
  return { from: startedAt, to: new Date(startedAt.getTime() + workedMs) };
}

/** The work of a build up to now, in milliseconds. */
export function workMs(build: Worked, now: Date): number | undefined {
  const work = workOf(build);
  return work && Math.max(0, (work.to ?? now).getTime() - work.from.getTime());
}

/** The work of a build that has finished, in milliseconds. */
export function finalWorkMs(build: Worked): number | undefined {
  return build.finishedAt ? workMs(build, build.finishedAt) : undefined;
}

/** The time in which at least one of the jobs ran, in milliseconds. Jobs that have not ended do not count. */
export function workMsOfJobs(jobs: Pick<Job, "startedAt" | "finishedAt">[]): number | undefined {
  const spans = jobs.flatMap(({ startedAt, finishedAt }) =>
    startedAt && finishedAt ? [[startedAt.getTime(), finishedAt.getTime()] as const] : [],
  );
  if (spans.length === 0) return undefined;
  let [sum, end] = [0, 0];
  for (const [from, to] of spans.sort(([one], [other]) => one - other)) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}
