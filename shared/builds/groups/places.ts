import type { Tx } from "../../db/database.ts";
import { uploadersOf } from "../../graph/tree.ts";
import { findTree } from "../graph-store.ts";
import type { Job } from "../job-store.ts";
import type { Build } from "../store.ts";
import { comparePlaces } from "./decide.ts";
import { findMemberOfBuild, type Group, listTimesOfJobs } from "./members-store.ts";

// The place of a build in its groups is the time at which it was created, or the step whose job uploaded its steps. A
// build may come late, when a later one has been let in: a person unblocks it, or its upload takes longer. In its own
// place it would go into a gate that the other has not left. So it goes behind that one, in all of its groups: in
// different orders, two builds would wait for each other. While it has members, later ones of it go to them.

/**
 * The times by which new members of a build are ordered in their groups.
 * @param groups those of the jobs
 */
export async function placeMembers(
  tx: Tx,
  build: Build,
  jobs: Job[],
  groups: Group[],
): Promise<(job: Job) => Date> {
  const known = await findMemberOfBuild(tx, build.id);
  const times = await listTimesOfSteps(tx, build, [...jobs, ...(known ? [known] : [])]);
  const timeOf = ({ stepId }: Pick<Job, "stepId">) => times.get(stepId) ?? build.createdAt;
  const lateMs = known
    ? known.orderedAt.getTime() - timeOf(known).getTime()
    : latenessOf(build, Math.min(...jobs.map((job) => timeOf(job).getTime())), groups);
  return (job) => new Date(timeOf(job).getTime() + lateMs);
}

/** Returns the milliseconds by which a build goes later than its own time. */
export function latenessOf({ id: buildId }: Pick<Build, "id">, timeMs: number, groups: Group[]): number {
  const own = { orderedAt: new Date(timeMs), buildId };
  const late = groups.map(({ reachedAt, reachedBuildId }) => {
    if (!reachedAt || !reachedBuildId || reachedBuildId === buildId) return 0;
    const isBehind = comparePlaces({ orderedAt: reachedAt, buildId: reachedBuildId }, own) < 0;
    return isBehind ? 0 : reachedAt.getTime() - timeMs + 1;
  });
  return Math.max(0, ...late);
}

/**
 * When the steps were created whose jobs uploaded steps, by uploaded step.
 * @returns nothing for steps that no job uploaded: their build's time is theirs
 */
async function listTimesOfSteps(
  tx: Tx,
  build: Build,
  jobs: Pick<Job, "stepId">[],
): Promise<Map<string, Date>> {
  const tree = build.hasGraph ? await findTree(tx, build.id) : undefined;
  const uploaders = uploadersOf(tree ?? []);
  // The id of a step is that of its first job, whatever was retried.
  const uploaderIds = new Set(jobs.flatMap(({ stepId }) => uploaders.get(stepId) ?? []));
  if (uploaderIds.size === 0) return new Map();
  const found = await listTimesOfJobs(tx, [...uploaderIds]);
  const times = new Map(found.map((job) => [job.id, job.createdAt]));
  return new Map(
    jobs.flatMap(({ stepId }) => {
      const time = times.get(uploaders.get(stepId) ?? "");
      return time ? [[stepId, time] as const] : [];
    }),
  );
}
