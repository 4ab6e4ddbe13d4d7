import type { Tx } from "../../db/database.ts";
import { branchRules } from "../../pipelines/settings.ts";
import { findPipelineFactsById } from "../../pipelines/store.ts";
import type { Services } from "../../services/services.ts";
import { endTasksOf } from "../../tasks/store.ts";
import type { BuildState } from "../../vocabulary.ts";
import { cancelIfUnfinished } from "../progress/cancel.ts";
import { settleBuild } from "../progress/progress.ts";
import { type Build, listBuildsById } from "../rows/build-store.ts";
import { isOfFork } from "../rows/facts.ts";
import { putNewsOfChangedJobs } from "../rows/job-news.ts";
import type { JobFacts } from "../rows/job-store.ts";
import { lockBuilds } from "../rows/progress-store.ts";
import { changeOlder } from "./older.ts";
import { outdatedBy } from "./reason.ts";
import { hasAcceptedJob, skipJobsIfUnaccepted } from "./store.ts";

// A new build skips or cancels older ones of its branch, if the pipeline asks for it. Later builds, and those that are
// blocked or have finished, stay as they are.
//
// | older build                     | skip_queued_branch_builds | cancel_running_branch_builds |
// |---------------------------------|---------------------------|------------------------------|
// | scheduled, no agent has a job   | skipped                   | stays                        |
// | scheduled, an agent has a job   | stays                     | canceling                    |
// | running, failing                | stays                     | canceling                    |

type Rules = ReturnType<typeof branchRules>;

/** Skips and cancels the builds that a build makes outdated. */
export async function endOutdated(services: Services, buildId: string): Promise<void> {
  const { db } = services;
  const newer = (await listBuildsById(db, [buildId])).get(buildId);
  const pipeline = newer && (await findPipelineFactsById(db, { id: newer.pipelineId }));
  const rules = pipeline ? branchRules(pipeline, newer.branch) : { skips: false, cancels: false };
  // In the order in which a build passes through them: none slips by.
  const states: BuildState[] = rules.cancels ? ["scheduled", "running", "failing"] : ["scheduled"];
  if (newer && (rules.skips || rules.cancels)) {
    const { pipelineId, branch, number: below } = newer;
    for (const state of states)
      await changeOlder(services, { pipelineId, branch, state, below }, (tx, build, now) =>
        endIfOutdated(tx, build, { newer, rules, now }),
      );
  }
  await db.transaction(async (tx) => {
    await lockBuilds(tx, [buildId]);
    await endTasksOf(tx, "branch", buildId);
  });
}

/** @returns the jobs that changed; undefined if the build stays */
async function endIfOutdated(
  tx: Tx,
  build: Build,
  { newer, rules, now }: { newer: Build; rules: Rules; now: Date },
): Promise<JobFacts[] | undefined> {
  // A branch of a fork may have the name of one of ours.
  if (isOfFork(build) !== isOfFork(newer)) return undefined;
  if (build.state === "scheduled" && !(await hasAcceptedJob(tx, build.id)))
    return rules.skips ? skipBuild(tx, build, now) : undefined;
  const isRunning = ["scheduled", "running", "failing"].includes(build.state);
  if (!isRunning || !rules.cancels) return undefined;
  return cancelIfUnfinished(tx, build, now, outdatedBy(newer));
}

/** Call it with the build locked, while no agent has a job of it. */
async function skipBuild(tx: Tx, build: Build, now: Date): Promise<JobFacts[]> {
  const jobs = await skipJobsIfUnaccepted(tx, build.id, now);
  await putNewsOfChangedJobs(tx, build, jobs);
  await settleBuild(tx, { ...build, state: "skipped" }, now);
  return jobs;
}
