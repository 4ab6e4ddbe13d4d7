import { changeInBatches } from "../db/batches.ts";
import type { Services } from "../process/services.ts";
import { listReferring, setOwnText } from "./job-store.ts";
import { forbidSharedSteps } from "./shared-steps.ts";
import { listUnfinishedBuilds } from "./shared-steps-store.ts";

/**
 * Before an older version runs: for a day new jobs have the text of their step themselves, and jobs of unfinished builds
 * get it.
 * @returns the number of jobs that got it
 */
export async function copySteps({ db }: Services): Promise<number> {
  await db.transaction(forbidSharedSteps);
  let copied = 0;
  for (const buildId of await listUnfinishedBuilds(db))
    copied += await changeInBatches(db, async (tx, limit) => {
      const jobs = await listReferring(tx, buildId, limit);
      for (const job of jobs) await setOwnText(tx, job);
      return jobs.length;
    });
  return copied;
}
