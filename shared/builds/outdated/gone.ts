import type { Tx } from "../../db/database.ts";
import type { Services } from "../../services/services.ts";
import { endTasksOf, later } from "../../tasks/store.ts";
import { type BuildState, blockedBuildStates } from "../../vocabulary.ts";
import { cancelIfUnfinished } from "../progress/cancel.ts";
import { type Build, listBuildsById } from "../rows/build-store.ts";
import { isOfFork } from "../rows/facts.ts";
import { lockBuilds } from "../rows/progress-store.ts";
import { findNewestOfBranch } from "./known-store.ts";
import { changeOlder } from "./older.ts";

// The unfinished builds of a branch that was deleted at its host, or of a merge group that was destroyed, are canceled if the
// pipeline asks for it. The newest one is the task's subject: builds of a branch that is made again stay.

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
  if (newest) await cancelOlder(services, newest);
  await db.transaction(async (tx) => {
    await lockBuilds(tx, [buildId]);
    await endTasksOf(tx, "branch_gone", buildId);
  });
}

async function cancelOlder(services: Services, { pipelineId, branch, number }: Build): Promise<void> {
  for (const state of states)
    await changeOlder(services, { pipelineId, branch, state, below: number + 1 }, async (tx, build, now) =>
      // A branch of a fork may have the name of one of ours.
      isOfFork(build) ? undefined : cancelIfUnfinished(tx, build, now, reason),
    );
}
