import type { Tx } from "../../db/database.ts";
import { decideProgress, hasMissingKeys, type Progress } from "../../graph/progress.ts";
import { type BuildState, blockedBuildStates } from "../../vocabulary.ts";
import { settleEntries } from "../groups/entries.ts";
import { findHeldBack } from "../groups/held-back.ts";
import {
  blockIfWaiting,
  failUnblocked,
  listBlockedStates,
  setUnblockable,
  waitIfBlocked,
} from "../rows/blocked-store.ts";
import {
  blockBuildIfUnfinished,
  endWorkIfWorking,
  failBuildIfRunning,
  finishBuildIfUnfinished,
  mendBuildIfFailing,
  resumeBuildIfBlocked,
} from "../rows/build-states-store.ts";
import type { Build } from "../rows/build-store.ts";
import { dueIfQuiet, dueOfScheduled } from "../rows/due-of-jobs.ts";
import {
  failIfBlocked,
  failIfWaiting,
  findTree,
  listTree,
  listUnsatisfied,
  passIfWaiting,
  scheduleIfWaiting,
} from "../rows/graph-store.ts";
import { putNewsOfChangedJobs } from "../rows/job-news.ts";
import type { JobFacts } from "../rows/job-store.ts";
import { refreshPauses, refreshPausesOf } from "../rows/pause-store.ts";
import { cancelJobsIfUnfinished, findStanding } from "../rows/progress-store.ts";
import { blockedState } from "./blocked.ts";
import { hasPromisedFailure } from "./promises.ts";

// States of a build:
//
// | state      | event                        | next                     |
// |------------|------------------------------|--------------------------|
// | (new)      | no command starts            | not_run; failed if a key is missing; blocked |
// | scheduled  | its first job starts         | running                  |
// | running    | a job fails or promises to, others run | failing; jobs of steps with cancel_on_build_failing are canceled |
// | running    | a job fails, and only people can let the others go on | blocked as failed; the same jobs are canceled |
// | failing    | the failed job is retried, or the promise was wrong | running; scheduled if no job had started |
// | unfinished | only people can let it go on | blocked (as passed, failed or running) |
// | blocked    | a step is unblocked          | scheduled, running       |
// | unfinished | cancel, while agents have jobs | canceling              |
// | unfinished | cancel, without such jobs    | canceled                 |
// | scheduled  | a newer build of the branch | skipped                  |
// | unfinished | its last job ends            | passed, failed; canceled if canceling |
// | finished   | a job is retried             | scheduled, running       |

/**
 * Brings a build into line with its jobs: schedules those whose dependencies have ended, fails those that can never
 * start, ends the build. Call it with the build locked, after a job ended or was added. Running it twice, or late, changes
 * nothing.
 * @returns the jobs that it scheduled or canceled
 */
export async function settleBuild(tx: Tx, build: Build, now: Date): Promise<JobFacts[]> {
  const reached = await settleSteps(tx, build, now);
  const scheduled = build.hasMembers ? await settleEntries(tx, build, { scheduled: reached, now }) : reached;
  if (build.pausedQueueId) await refreshPauses(tx, [build.id]);
  else await refreshPausesOf(tx, scheduled);
  return scheduled;
}

async function settleSteps(tx: Tx, build: Build, now: Date): Promise<JobFacts[]> {
  const standing = await findStanding(tx, build.id);
  const { hasActive, hasFailed, hasPromise, hasWaiting, hasCommand, isIdle } = standing;
  // Without a graph, waits alone hold jobs back, and they are decided once nothing else runs.
  const isDue = hasWaiting && (build.hasGraph || !hasActive);
  const { scheduled, hasNewFailure, waitsForPeople } = isDue ? await advance(tx, build, now) : nothing;
  const isFailing = hasFailed || hasNewFailure || (hasPromise && (await hasPromisedFailure(tx, build.id)));
  const isQuiet = !hasActive && scheduled.length === 0;
  await dueOfScheduled(tx, scheduled);
  await dueIfQuiet(tx, build, isQuiet);
  if (!isQuiet) {
    if (isIdle) await endWorkIfWorking(tx, { id: build.id, now });
    if (blockedBuildStates.includes(build.state)) await resumeBuildIfBlocked(tx, build.id);
    if (!isFailing) await mendBuildIfFailing(tx, { id: build.id });
    else if (await failBuildIfRunning(tx, { id: build.id, now }))
      return [...scheduled, ...(await cancelOnFailing(tx, build, now))];
  } else if (waitsForPeople) {
    const canceled = isFailing && build.state !== "failing" ? await cancelOnFailing(tx, build, now) : [];
    if (canceled.length > 0) return canceled;
    const state = blockedState(await listBlockedStates(tx, build.id), { isFailing });
    await blockBuildIfUnfinished(tx, build, { state, now });
  } else {
    const state = finalState(build, { isFailing, hasCommand });
    await finishBuildIfUnfinished(tx, { id: build.id, state, now });
    if (state === "failed" && build.hasGraph) await failUnblocked(tx, { buildId: build.id });
  }
  return scheduled;
}

/** Cancels the jobs that need not run in a build that fails anyway. @returns the changed jobs */
async function cancelOnFailing(tx: Tx, build: Build, now: Date): Promise<JobFacts[]> {
  const reason = "The build was failing";
  const canceled = await cancelJobsIfUnfinished(tx, { build, isOnFailing: true, reason }, now);
  return canceled.length > 0 ? [...canceled, ...(await settleBuild(tx, build, now))] : [];
}

interface Advance {
  scheduled: JobFacts[];
  hasNewFailure: boolean;
  waitsForPeople: boolean;
}

const nothing: Advance = { scheduled: [], hasNewFailure: false, waitsForPeople: false };

async function advance(tx: Tx, build: Build, now: Date): Promise<Advance> {
  const { id: buildId, hasGraph } = build;
  const stored = hasGraph ? await findTree(tx, buildId) : undefined;
  const tree = stored ?? (await listTree(tx, buildId));
  const jobs = await listUnsatisfied(tx, { buildId });
  const heldBack = hasGraph && hasMissingKeys(tree) ? await findHeldBack(tx, build, jobs) : undefined;
  const progress = decideProgress(tree, jobs, heldBack);
  const { reached, failed, blockedFailed, waitsForPeople } = progress;
  const these = (steps: Set<string>) => ({ buildId, stepIds: [...steps], now });
  if (failed.size > 0) await putNewsOfChangedJobs(tx, build, await failIfWaiting(tx, these(failed)));
  if (blockedFailed.size > 0)
    await putNewsOfChangedJobs(tx, build, await failIfBlocked(tx, these(blockedFailed)));
  await changeBlocked(tx, buildId, progress);
  const hasNewFailure = failed.size + blockedFailed.size > 0;
  if (reached.size === 0) return { scheduled: [], hasNewFailure, waitsForPeople };
  await passIfWaiting(tx, these(reached));
  const scheduled = [...(await scheduleIfWaiting(tx, these(reached)))];
  await putNewsOfChangedJobs(tx, build, scheduled);
  return { scheduled, hasNewFailure, waitsForPeople };
}

async function changeBlocked(tx: Tx, buildId: string, progress: Progress): Promise<void> {
  const { blocked, waiting, unblockable, notUnblockable } = progress;
  if (blocked.size > 0) await blockIfWaiting(tx, { buildId, stepIds: [...blocked] });
  if (waiting.size > 0) await waitIfBlocked(tx, { buildId, stepIds: [...waiting] });
  if (unblockable.size > 0)
    await setUnblockable(tx, { buildId, stepIds: [...unblockable], unblockable: true });
  if (notUnblockable.size > 0)
    await setUnblockable(tx, { buildId, stepIds: [...notUnblockable], unblockable: false });
}

function finalState(
  { state }: Build,
  { isFailing, hasCommand }: { isFailing: boolean; hasCommand: boolean },
): BuildState {
  if (state === "canceling") return "canceled";
  if (state === "skipped") return "skipped";
  if (isFailing) return "failed";
  return hasCommand ? "passed" : "not_run";
}
