import type { Tx } from "../../db/database.ts";
import { type BuildState, blockedBuildStates, finishedBuildStates } from "../../vocabulary.ts";
import type { JobFacts } from "../job-store.ts";
import type { Build } from "../store.ts";
import { insertFollowUps } from "./store.ts";

/** Lets the scheduled jobs of trigger steps among some jobs make their builds. */
export async function triggerBuilds(tx: Tx, jobs: Pick<JobFacts, "id" | "type" | "state">[]): Promise<void> {
  const scheduled = jobs.filter(({ type, state }) => type === "trigger" && state === "scheduled");
  await insertFollowUps(
    tx,
    "trigger",
    scheduled.map(({ id }) => id),
  );
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
