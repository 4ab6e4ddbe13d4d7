import type { Tx } from "../../db/database.ts";
import type { Topic } from "../../redis/events.ts";
import type { Services } from "../../services/services.ts";
import { endTasksOf } from "../../tasks/store.ts";
import { finishedJobStates, type JobState } from "../../vocabulary.ts";
import { settleBuild } from "../progress/progress.ts";
import { reopenIfFinished, startWorkIfIdle } from "../rows/build-states-store.ts";
import type { Build } from "../rows/build-store.ts";
import { reopenFailedWaits } from "../rows/graph-store.ts";
import { putNewsOfChangedJobs } from "../rows/job-news.ts";
import type { Job } from "../rows/job-store.ts";
import { findJob, lockBuilds } from "../rows/progress-store.ts";
import { buildTopics } from "../rows/topics.ts";
import { endingOf, followsCanceledBuild } from "./ending.ts";
import { findBuildById, findBuildOfJobById, moveTriggerIfStill } from "./store.ts";

/** Brings the job of a trigger step into line with the build that it made, and then its own build. */
export async function mirrorBuild(services: Services, buildId: string): Promise<void> {
  const { db, events } = services;
  events.publish(await db.transaction((tx) => mirrorIn(tx, buildId)));
}

async function mirrorIn(tx: Tx, childId: string): Promise<Topic[]> {
  const jobId = (await findBuildById(tx, childId))?.triggeredByJobId ?? undefined;
  const place = jobId === undefined ? undefined : await findBuildOfJobById(tx, { jobId });
  const [parent] = place ? await lockBuilds(tx, [place.id]) : [];
  await endTasksOf(tx, "mirror", childId);
  if (!parent || jobId === undefined) return [];
  // Read behind the lock: of two changes of the build, the later one is seen last.
  const [job, child] = [await findJob(tx, jobId), await findBuildById(tx, childId)];
  if (!job || !child || !follows(job, parent)) return [];
  const ending = endingOf(job, child);
  if (ending.state === job.state || !(await moveTriggerIfStill(tx, job, ending))) return [];
  await putNewsOfChangedJobs(tx, parent, [{ ...job, state: ending.state }]);

  if (finishedJobStates.includes(job.state)) {
    await reopenFailedWaits(tx, parent.id);
    await reopenIfFinished(tx, parent.id);
  }
  if (ending.state === "running") await startWorkIfIdle(tx, parent, tx.now);
  return buildTopics(parent, await settleBuild(tx, parent, tx.now));
}

const followingStates: JobState[] = ["running", "passed", "failed", "skipped"];

/** A job that people canceled or retried follows its build no more, nor does one of a canceled build. */
function follows(
  { state, failureReason, options, retriedInJobId }: Job,
  { state: ofParent }: Build,
): boolean {
  if (retriedInJobId !== null || options?.trigger?.async) return false;
  if (ofParent === "canceling" || ofParent === "canceled") return false;
  return followingStates.includes(state) || (state === "canceled" && failureReason === followsCanceledBuild);
}
