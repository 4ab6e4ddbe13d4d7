import { restBetweenTransactions } from "../../db/batches.ts";
import type { Tx } from "../../db/database.ts";
import type { Topic } from "../../redis/events.ts";
import type { Services } from "../../services/services.ts";
import type { Build } from "../rows/build-store.ts";
import type { JobFacts } from "../rows/job-store.ts";
import { lockBuilds } from "../rows/progress-store.ts";
import { buildTopics } from "../rows/topics.ts";
import { listOlderOfBranch, type OlderBuilds } from "./store.ts";

/** Builds may have thousands of jobs. */
const buildsAtOnce = 10;

/**
 * Changes builds of a branch in the order of their numbers, some in each transaction.
 * @param change has the build locked. It returns the jobs that changed; undefined: the build stays
 */
export async function changeOlder(
  { db, clock, events }: Services,
  older: Omit<OlderBuilds, "after">,
  change: (tx: Tx, build: Build, now: Date) => Promise<JobFacts[] | undefined>,
): Promise<void> {
  for (let after = 0; ; ) {
    const found = await listOlderOfBranch(db, { ...older, after }, buildsAtOnce);
    const ids = found.map(({ id }) => id);
    const now = clock.now();
    const topics = await db.transaction(async (tx) => {
      const changed: Topic[] = [];
      for (const build of await lockBuilds(tx, ids)) {
        const jobs = await change(tx, build, now);
        if (jobs) changed.push(...buildTopics(build, jobs));
      }
      return changed;
    });
    events.publish(topics);
    if (found.length < buildsAtOnce) return;
    after = found.at(-1)?.number ?? older.below;
    await restBetweenTransactions();
  }
}
