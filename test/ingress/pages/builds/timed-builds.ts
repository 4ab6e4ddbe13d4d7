import { and, eq } from "drizzle-orm";
import type { Actor } from "../../../../shared/accounts/audit.ts";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import type { Build } from "../../../../shared/builds/rows/build-store.ts";
import { secondMs } from "../../../../shared/durations.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import type { BuildState, JobState, Step } from "../../../../shared/vocabulary.ts";
import type { World } from "../../../helpers/world.ts";

export interface TimedBuild {
  clusterId: string;
  /** The pipeline's name. */
  name: string;
  state: BuildState;
  /** When it was created, in seconds before now. The other times are seconds after that. */
  secondsAgo: number;
  startedAfter?: number;
  finishedAfter?: number;
  jobs: TimedJob[];
}

export interface TimedJob {
  step: Step;
  state: JobState;
  scheduledAfter?: number;
  startedAfter?: number;
  finishedAfter?: number;
  exitStatus?: number;
}

/** Makes a build as if its jobs had run. Each step becomes one job. */
export async function makeTimedBuild(
  { services }: Pick<World, "services">,
  actor: Actor,
  { clusterId, name, state, secondsAgo, startedAfter, finishedAfter, jobs: timed }: TimedBuild,
): Promise<Build> {
  const { db, clock } = services;
  const steps = timed.map(({ step }) => step);
  const pipeline = await createPipeline(services, actor, { clusterId, name, steps });
  const { build } = await createBuildByHand(services, actor, pipeline, {
    message: "Faster loops",
    source: "ui",
  });
  const createdAt = new Date(clock.now().getTime() - secondsAgo * secondMs);
  const after = (seconds?: number) =>
    seconds === undefined ? null : new Date(createdAt.getTime() + seconds * secondMs);
  const { builds, jobs } = db.tables;
  await db.transaction(async (tx) => {
    await tx
      .update(builds)
      .set({ state, createdAt, startedAt: after(startedAfter), finishedAt: after(finishedAfter) })
      .where(eq(builds.id, build.id));
    for (const [position, job] of timed.entries())
      await tx
        .update(jobs)
        .set({
          state: job.state,
          scheduledAt: after(job.scheduledAfter),
          startedAt: after(job.startedAfter),
          finishedAt: after(job.finishedAfter),
          exitStatus: job.exitStatus ?? null,
        })
        .where(and(eq(jobs.buildId, build.id), eq(jobs.position, position)));
  });
  return { ...build, createdAt };
}

const lint = { label: "Lint", command: "npm run lint" };
const unit = { label: "Unit tests", command: "npm ci\nnpm test -- --coverage" };
const browser = { label: "Tests in a browser", command: "npm run test:browser" };
const types = { label: "Types", command: "tsc --noEmit" };
const deploy = { label: "Deploy", command: "./deploy.sh production" };

/** Jobs that waited and ran side by side, and one behind a `wait`. It passed in 4 min 12 s after 35 s. */
export const passedJobs: TimedJob[] = [
  { step: lint, state: "passed", scheduledAfter: 0, startedAfter: 35, finishedAfter: 58, exitStatus: 0 },
  { step: types, state: "passed", scheduledAfter: 0, startedAfter: 36, finishedAfter: 81, exitStatus: 0 },
  { step: unit, state: "passed", scheduledAfter: 0, startedAfter: 60, finishedAfter: 190, exitStatus: 0 },
  { step: browser, state: "passed", scheduledAfter: 0, startedAfter: 84, finishedAfter: 230, exitStatus: 0 },
  { step: { type: "wait" }, state: "passed" },
  {
    step: deploy,
    state: "passed",
    scheduledAfter: 230,
    startedAfter: 238,
    finishedAfter: 287,
    exitStatus: 0,
  },
];
export const passedBuild = {
  state: "passed",
  secondsAgo: 1000,
  startedAfter: 35,
  finishedAfter: 287,
} as const;

export const failedJobs: TimedJob[] = [
  ...passedJobs.slice(0, 2),
  { step: unit, state: "failed", scheduledAfter: 0, startedAfter: 60, finishedAfter: 190, exitStatus: 1 },
  {
    step: browser,
    state: "timed_out",
    scheduledAfter: 0,
    startedAfter: 84,
    finishedAfter: 230,
    exitStatus: -1,
  },
  { step: { type: "wait" }, state: "waiting_failed" },
  { step: deploy, state: "waiting_failed" },
];
export const failedBuild = {
  state: "failed",
  secondsAgo: 1000,
  startedAfter: 35,
  finishedAfter: 230,
} as const;

export const runningJobs: TimedJob[] = [
  ...passedJobs.slice(0, 2),
  { step: unit, state: "running", scheduledAfter: 0, startedAfter: 60 },
  { step: browser, state: "scheduled", scheduledAfter: 0 },
  { step: { type: "wait" }, state: "waiting" },
  { step: deploy, state: "waiting" },
];
export const runningBuild = { state: "running", secondsAgo: 125, startedAfter: 35 } as const;
