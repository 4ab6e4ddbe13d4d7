import type { Tx } from "../db/database.ts";
import { decideProgress } from "../graph/progress.ts";
import type { BuildState } from "../vocabulary.ts";
import {
  failIfWaiting,
  findGraph,
  listStandings,
  listTree,
  passIfWaiting,
  scheduleIfWaiting,
} from "./graph-store.ts";
import type { JobFacts } from "./job-store.ts";
import { refreshPauses } from "./pause-store.ts";
import {
  cancelJobsIfUnfinished,
  failBuildIfRunning,
  findStanding,
  finishBuildIfUnfinished,
  mendBuildIfFailing,
} from "./progress-store.ts";
import type { Build } from "./store.ts";

// States of a build:
//
// | state      | event                        | next                     |
// |------------|------------------------------|--------------------------|
// | (new)      | no command starts            | not_run; failed if a key is missing |
// | scheduled  | its first job starts         | running                  |
// | running    | a job fails, others run      | failing; jobs of steps with cancel_on_build_failing are canceled |
// | failing    | the failed job is retried    | running                  |
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
  if (build.pausedQueueId) await refreshPauses(tx, [build.id]);
  const { hasActive, hasFailed, hasWaiting, hasCommand } = await findStanding(tx, build.id);
  // Without a graph, waits alone hold jobs back, and they are decided once nothing else runs.
  const isDue = hasWaiting && (build.hasGraph || !hasActive);
  const { scheduled, hasNewFailure } = isDue ? await advance(tx, build, now) : nothing;
  const isFailing = hasFailed || hasNewFailure;
  if (!hasActive && scheduled.length === 0)
    await finishBuildIfUnfinished(tx, {
      id: build.id,
      state: finalState(build, { isFailing, hasCommand }),
      now,
    });
  else if (isFailing) {
    const turned = await failBuildIfRunning(tx, { id: build.id, now });
    const canceled = turned ? await cancelOnFailing(tx, build, now) : [];
    return [...scheduled, ...canceled];
  } else await mendBuildIfFailing(tx, { id: build.id });
  return scheduled;
}

/** Cancels the jobs that need not run in a build that fails anyway. @returns the changed jobs */
async function cancelOnFailing(tx: Tx, build: Build, now: Date): Promise<JobFacts[]> {
  const reason = "The build was failing";
  const canceled = await cancelJobsIfUnfinished(tx, { buildId: build.id, isOnFailing: true, reason }, now);
  return canceled.length > 0 ? [...canceled, ...(await settleBuild(tx, build, now))] : [];
}

const nothing: { scheduled: JobFacts[]; hasNewFailure: boolean } = { scheduled: [], hasNewFailure: false };

async function advance(tx: Tx, { id: buildId, hasGraph }: Build, now: Date): Promise<typeof nothing> {
  const stored = hasGraph ? (await findGraph(tx, buildId))?.tree : undefined;
  const tree = stored ?? (await listTree(tx, buildId));
  const { reached, failed } = decideProgress(tree, await listStandings(tx, { buildId }));
  if (failed.size > 0) await failIfWaiting(tx, { buildId, stepIds: [...failed], now });
  if (reached.size === 0) return { scheduled: [], hasNewFailure: failed.size > 0 };
  const these = { buildId, stepIds: [...reached], now };
  await passIfWaiting(tx, these);
  return { scheduled: [...(await scheduleIfWaiting(tx, these))], hasNewFailure: failed.size > 0 };
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
