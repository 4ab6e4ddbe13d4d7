import type { Services } from "../../services/services.ts";
import { endTasksOf } from "../../tasks/store.ts";
import { settleBuild } from "../progress/progress.ts";
import { putNewsOfChangedJobs } from "../rows/job-news.ts";
import { lockBuilds } from "../rows/progress-store.ts";
import { buildTopics } from "../rows/topics.ts";
import { failQueuelessIfScheduled } from "./store.ts";

/**
 * Fails the jobs of a build that were reached and have no queue. The build goes on as after any failure. Rules for automatic
 * retries do not apply: a queue does not come to exist at once.
 */
export async function failQueuelessJobs({ db, events }: Services, buildId: string): Promise<void> {
  const topics = await db.transaction(async (tx) => {
    const [build] = await lockBuilds(tx, [buildId]);
    await endTasksOf(tx, "queueless", buildId);
    if (!build) return [];
    const failed = await failQueuelessIfScheduled(tx, buildId);
    await putNewsOfChangedJobs(tx, build, failed);
    return failed.length > 0 ? buildTopics(build, await settleBuild(tx, build, tx.now)) : [];
  });
  events.publish(topics);
}
