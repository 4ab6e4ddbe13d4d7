import type { Tx } from "../../db/database.ts";
import type { Topic } from "../../redis/events.ts";
import type { Services } from "../../services/services.ts";
import { endTasksOf } from "../../tasks/store.ts";
import { cancelIfUnfinished } from "../progress/cancel.ts";
import type { Build } from "../rows/build-store.ts";
import { findJob, lockBuilds } from "../rows/progress-store.ts";
import { buildTopics } from "../rows/topics.ts";
import { followsCanceledBuild } from "./ending.ts";
import { findTriggeredBuild } from "./store.ts";

/** Cancels the build of a trigger step's job that was canceled. */
export async function passCancelOn({ db, events }: Services, jobId: string): Promise<void> {
  events.publish(await db.transaction((tx) => passOnIn(tx, jobId)));
}

async function passOnIn(tx: Tx, jobId: string): Promise<Topic[]> {
  const found = await findTriggeredBuild(tx, jobId);
  const [child] = found ? await lockBuilds(tx, [found.id]) : [];
  await endTasksOf(tx, "cancel", jobId);
  if (!child || !(await isCanceledWithStep(tx, child))) return [];
  const jobs = await cancelIfUnfinished(tx, child, tx.now, "The step that triggered the build was canceled");
  return jobs ? buildTopics(child, jobs) : [];
}

/** Returns true if people canceled the trigger step that made a build. Its jobs cannot be retried then. */
export async function isCanceledWithStep(tx: Tx, { triggeredByJobId }: Build): Promise<boolean> {
  const job = triggeredByJobId === null ? undefined : await findJob(tx, triggeredByJobId);
  return (
    job?.state === "canceled" && job.failureReason !== followsCanceledBuild && !job.options?.trigger?.async
  );
}
