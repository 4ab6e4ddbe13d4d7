import type { Tx } from "../../db/database.ts";
import { later } from "../../tasks/store.ts";
import { type BuildState, blockedBuildStates, finishedBuildStates, type TaskKind } from "../../vocabulary.ts";
import { type Build, findOwnersOfBuilds } from "./build-store.ts";
import type { JobFacts } from "./job-store.ts";
import { isQueueless } from "./queue-again.ts";

/** Lets the scheduled jobs among some that no agent can take go on: those of trigger steps, and those without a queue. */
export async function dueOfScheduled(
  tx: Tx,
  jobs: Pick<JobFacts, "id" | "buildId" | "type" | "state" | "queueId">[],
): Promise<void> {
  const scheduled = jobs.filter(({ state }) => state === "scheduled");
  const triggers = scheduled.filter(({ type }) => type === "trigger");
  const queueless = scheduled.filter(isQueueless);
  await laterOfJobs(tx, "trigger", triggers, ({ id }) => id);
  await laterOfJobs(tx, "queueless", queueless, ({ buildId }) => buildId);
}

/** Lets the builds of trigger steps among canceled jobs be canceled too. */
export async function dueOfCanceled(
  tx: Tx,
  canceled: Pick<JobFacts, "id" | "buildId" | "type">[],
): Promise<void> {
  const triggers = canceled.filter(({ type }) => type === "trigger");
  await laterOfJobs(tx, "cancel", triggers, ({ id }) => id);
}

async function laterOfJobs<Job extends Pick<JobFacts, "id" | "buildId">>(
  tx: Tx,
  kind: TaskKind,
  jobs: Job[],
  subjectOf: (job: Job) => string,
): Promise<void> {
  if (jobs.length === 0) return;
  const owners = await findOwnersOfBuilds(tx, [...new Set(jobs.map(({ buildId }) => buildId))]);
  for (const [owner, own] of Map.groupBy(jobs, ({ buildId }) => owners.get(buildId) ?? ""))
    await later(tx, kind, owner, [...new Set(own.map(subjectOf))]);
}

/** Lets the step that triggered a build follow it, if the build has ended or waits for people, now or until now. */
export async function dueIfQuiet(tx: Tx, build: Build, isQuiet: boolean): Promise<void> {
  if (build.triggeredByJobId === null) return;
  if (isQuiet || quietStates.includes(build.state))
    await later(tx, "mirror", build.organizationId, [build.id]);
}

const quietStates: BuildState[] = [...finishedBuildStates, ...blockedBuildStates];
