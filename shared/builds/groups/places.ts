import type { Tx } from "../../db/database.ts";
import { uploadersOf } from "../../graph/tree.ts";
import { findTree } from "../graph-store.ts";
import type { JobFacts } from "../job-store.ts";
import type { Build } from "../store.ts";
import { listTimesOfJobs } from "./members-store.ts";

/**
 * The time by which steps are ordered in their groups, by step: when the job that uploaded them was created. Retried jobs
 * have the place of the first one.
 * @returns nothing for steps that no job uploaded: their build's time is theirs
 */
export async function listPlacesOfSteps(
  tx: Tx,
  build: Build,
  jobs: Pick<JobFacts, "stepId">[],
): Promise<Map<string, Date>> {
  const tree = build.hasGraph ? await findTree(tx, build.id) : undefined;
  const uploaders = uploadersOf(tree ?? []);
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
