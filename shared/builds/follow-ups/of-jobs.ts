import type { Tx } from "../../db/database.ts";
import { type BuildState, blockedBuildStates, finishedBuildStates } from "../../vocabulary.ts";
import type { JobFacts } from "../job-store.ts";
import { isQueueless } from "../queueless/queue-again.ts";
import type { Build } from "../store.ts";
import { insertFollowUps } from "./store.ts";

/** Lets the scheduled jobs among some that no agent can take go on: those of trigger steps, and those without a queue. */
export async function followUpScheduled(
  tx: Tx,
  jobs: Pick<JobFacts, "id" | "buildId" | "type" | "state" | "queueId">[],
): Promise<void> {
  const scheduled = jobs.filter(({ state }) => state === "scheduled");
  const triggers = scheduled.filter(({ type }) => type === "trigger").map(({ id }) => id);
  const queueless = scheduled.filter(isQueueless);
  await insertFollowUps(tx, "trigger", triggers);
  await insertFollowUps(tx, "queueless", [...new Set(queueless.map(({ buildId }) => buildId))]);
}

/** Lets the builds of trigger steps among canceled jobs be canceled too. */
export async function cancelTriggeredBuilds(
  tx: Tx,
  canceled: Pick<JobFacts, "id" | "type">[],
): Promise<void> {
  const triggers = canceled.filter(({ type }) => type === "trigger");
  await insertFollowUps(
    tx,
    "cancel",
    triggers.map(({ id }) => id),
  );
}

/** Lets the step that triggered a build follow it, if the build has ended or waits for people, now or until now. */
export async function mirrorBuildIfQuiet(tx: Tx, build: Build, isQuiet: boolean): Promise<void> {
  if (build.triggeredByJobId === null) return;
  if (isQuiet || quietStates.includes(build.state)) await insertFollowUps(tx, "mirror", [build.id]);
}

const quietStates: BuildState[] = [...finishedBuildStates, ...blockedBuildStates];
