import type { Services } from "../services/services.ts";
import { withinLength } from "./contexts.ts";
import { hasStatus, maxJobsAtOnce } from "./messages.ts";
import { givenContext } from "./noticed.ts";
import { listAnnouncedJobs, listNewerBuilds } from "./store.ts";
import { contextOf, contextOfStep, type Shown, type StatusTarget } from "./target.ts";

/**
 * Says if a newer build of the pipeline has the same status at the same commit. Hosts show what they were told last: an
 * older build that ends later must not hide a newer one. Statuses that steps and groups ask for by `notify` are left alone.
 */
export async function isOutdated(
  services: Services,
  shown: Shown,
  { context, of, notice }: StatusTarget,
): Promise<boolean> {
  if (of !== "build" && notice) return false;
  const { db } = services;
  for (const newer of await listNewerBuilds(db, shown.spoken.build)) {
    const other = { ...shown, spoken: { ...shown.spoken, build: { ...shown.spoken.build, ...newer } } };
    const ofBuild = contextOf(services, other);
    const isNamed = (newer.notify ?? []).some(
      (each) =>
        (each.github_commit_status ?? each.github_check) !== undefined &&
        withinLength(givenContext(each) ?? ofBuild) === context,
    );
    if (of === "build" && (notice ? isNamed : ofBuild === context)) return true;
    if (of === "build") continue;
    const jobs = await listAnnouncedJobs(db, newer.id, maxJobsAtOnce);
    if (jobs.some((job) => hasStatus(job) && contextOfStep(services, other, job) === context)) return true;
  }
  return false;
}
