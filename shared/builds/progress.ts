import type { Tx } from "../db/database.ts";
import type { JobFacts } from "./job-store.ts";
import { refreshPauses } from "./pause-store.ts";
import {
  changeIfIn,
  failIfWaiting,
  findStanding,
  finishBuildIfUnfinished,
  listWaiters,
  passWaiterIfWaiting,
  scheduleIfWaiting,
} from "./progress-store.ts";
import type { Build } from "./store.ts";

// States of a build:
//
// | state      | event                        | next                     |
// |------------|------------------------------|--------------------------|
// | scheduled  | its first job starts         | running                  |
// | running    | a job fails, others run      | failing                  |
// | failing    | the failed job is retried    | running                  |
// | unfinished | cancel, while agents have jobs | canceling              |
// | unfinished | cancel, without such jobs    | canceled                 |
// | unfinished | its last job ends            | passed, failed; canceled if canceling |
// | finished   | a job is retried             | scheduled, running       |

/**
 * Brings a build into line with its jobs: reaches `wait`s, schedules the jobs behind them, ends the build. Call it with
 * the build locked, after a job ended or was added.
 * @returns the jobs that it scheduled
 */
export async function settleBuild(tx: Tx, build: Build, now: Date): Promise<JobFacts[]> {
  if (build.pausedQueueId) await refreshPauses(tx, [build.id]);
  const { hasActive, hasFailed, hasWaiter } = await findStanding(tx, build.id);
  if (!hasActive) {
    const scheduled = hasWaiter ? await reachWaiters(tx, build.id, { hasFailed, now }) : [];
    if (scheduled.length === 0) {
      await finishBuildIfUnfinished(tx, { id: build.id, state: finalState(build, hasFailed), now });
      return [];
    }
    await showFailure(tx, build.id, hasFailed);
    return scheduled;
  }
  await showFailure(tx, build.id, hasFailed);
  return [];
}

function finalState({ state }: Build, hasFailed: boolean) {
  if (state === "canceling") return "canceled";
  return hasFailed ? "failed" : "passed";
}

async function showFailure(tx: Tx, buildId: string, hasFailed: boolean): Promise<void> {
  if (hasFailed) await changeIfIn(tx, { id: buildId, from: ["scheduled", "running"], state: "failing" });
  else await changeIfIn(tx, { id: buildId, from: ["failing"], state: "running" });
}

/** Goes from `wait` to `wait` until jobs are scheduled. After a failure only `continue_on_failure` is reached. */
async function reachWaiters(
  tx: Tx,
  buildId: string,
  { hasFailed, now }: { hasFailed: boolean; now: Date },
): Promise<JobFacts[]> {
  const waiters = await listWaiters(tx, { buildId });
  for (const [index, waiter] of waiters.entries()) {
    const range = { buildId, from: waiter.position, to: waiters[index + 1]?.position };
    if (hasFailed && !waiter.options?.continue_on_failure) {
      await failIfWaiting(tx, range, now);
      continue;
    }
    await passWaiterIfWaiting(tx, waiter.id, now);
    const scheduled = await scheduleIfWaiting(tx, range, now);
    if (scheduled.length > 0) return scheduled;
  }
  return [];
}
