import { restBetweenTransactions } from "../../db/batches.ts";
import type { Tx } from "../../db/database.ts";
import type { Topic } from "../../redis/events.ts";
import type { Services } from "../../services/services.ts";
import { deleteTasks, later } from "../../tasks/store.ts";
import { type BuildState, blockedBuildStates } from "../../vocabulary.ts";
import { cancelIfUnfinished } from "../progress/cancel.ts";
import { type Build, listBuildsById } from "../rows/build-store.ts";
import { lockBuilds } from "../rows/progress-store.ts";
import { buildTopics } from "../rows/topics.ts";
import { findNewestOfBranch } from "./known-store.ts";
import { listOlderOfBranch } from "./store.ts";

// The unfinished builds of a branch that was deleted at its host, or of a merge group that was destroyed, are canceled if the
// pipeline asks for it. The newest one is the task's subject: builds of a branch that is made again stay.

/** Builds may have thousands of jobs. */
const buildsAtOnce = 10;
const reason = "Its branch was deleted";
/** In the order in which a build passes through them: none slips by. */
const states: BuildState[] = ["scheduled", "running", "failing", ...blockedBuildStates];

/** Makes it due to cancel the unfinished builds of a branch. @param below the number of the first one that stays */
export async function dueOfGoneBranch(
  tx: Tx,
  branch: Pick<Build, "pipelineId" | "branch"> & { below: number },
): Promise<void> {
  const found = [];
  for (const state of states) found.push((await findNewestOfBranch(tx, { ...branch, state })) ?? []);
  const [newest] = found.flat().sort((a, b) => b.number - a.number);
  if (newest) await later(tx, "branch_gone", newest.organizationId, [newest.id]);
}

/** Cancels a build, and the older ones of its branch. */
export async function endOfGoneBranch(services: Services, buildId: string): Promise<void> {
  const { db } = services;
  const newest = (await listBuildsById(db, [buildId])).get(buildId);
  if (newest) for (const state of states) await cancelOlder(services, { newest, state });
  await db.transaction(async (tx) => {
    await lockBuilds(tx, [buildId]);
    await deleteTasks(tx, "branch_gone", buildId);
  });
}

async function cancelOlder(
  { db, clock, events }: Services,
  { newest, state }: { newest: Build; state: BuildState },
): Promise<void> {
  const { pipelineId, branch, number } = newest;
  for (let after = 0; ; ) {
    const older = { pipelineId, branch, state, after, below: number + 1 };
    const found = await listOlderOfBranch(db, older, buildsAtOnce);
    const ids = found.map(({ id }) => id);
    const now = clock.now();
    const topics = await db.transaction(async (tx) => {
      const changed: Topic[] = [];
      for (const build of await lockBuilds(tx, ids)) {
        // A branch of a fork may have the name of one of ours.
        const jobs = build.options?.is_fork ? undefined : await cancelIfUnfinished(tx, build, now, reason);
        if (jobs) changed.push(...buildTopics(build, jobs));
      }
      return changed;
    });
    events.publish(topics);
    if (found.length < buildsAtOnce) return;
    after = found.at(-1)?.number ?? number;
    await restBetweenTransactions();
  }
}
