import type { Db, Tx } from "../../db/database.ts";
import type { Job } from "../rows/job-store.ts";
import { listPromising } from "../rows/progress-store.ts";
import { isRetryRuled } from "./retry-rules.ts";

// A running job may promise the exit status with which it will fail. Until it ends, the build counts it thus:
//
// | the promised failure        | the build            |
// |-----------------------------|----------------------|
// | is soft, or will be retried | goes on as before    |
// | is neither                  | is failing           |
// | the job ends, or is lost    | as the job ended     |

/** Returns true if a job of a build promises a failure that will count. Call with the build locked. */
export async function hasPromisedFailure(tx: Tx, buildId: string): Promise<boolean> {
  for (const job of await listPromising(tx, buildId)) if (await promisesFailure(tx, job)) return true;
  return false;
}

/** The ids of the running jobs whose promised failure counts. */
export async function findPromising(db: Db, jobs: Job[]): Promise<Set<string>> {
  const promising = jobs.filter(({ state, promisedAt }) => state === "running" && promisedAt !== null);
  if (promising.length === 0) return new Set();
  return db.transaction(async (tx) => {
    const counting = new Set<string>();
    for (const job of promising) if (await promisesFailure(tx, job)) counting.add(job.id);
    return counting;
  });
}

/** Returns true if the promised failure of a job is neither soft nor to be retried. */
export async function promisesFailure(tx: Tx, job: Job): Promise<boolean> {
  const ended: Job = {
    ...job,
    state: "failed",
    exitStatus: job.promisedExitStatus,
    signal: null,
    signalReason: null,
  };
  return !isSoftFailure(ended) && !(await isRetryRuled(tx, ended));
}

/** Returns true if the step of an ended job lets this failure pass. */
export function isSoftFailure({ state, options, exitStatus }: Job): boolean {
  const { soft_fail = false } = options ?? {};
  if (state === "passed") return false;
  if (!Array.isArray(soft_fail)) return soft_fail;
  return state !== "canceled" && soft_fail.includes(exitStatus ?? -1);
}
