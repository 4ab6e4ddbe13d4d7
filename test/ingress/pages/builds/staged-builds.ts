import { eq } from "drizzle-orm";
import type { Actor } from "../../../../shared/accounts/audit.ts";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import type { Build } from "../../../../shared/builds/rows/build-store.ts";
import { type Job, wholeJobs } from "../../../../shared/builds/rows/job-store.ts";
import { secondMs } from "../../../../shared/durations.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import {
  type BuildState,
  finishedJobStates,
  type JobState,
  type Step,
} from "../../../../shared/vocabulary.ts";
import type { World } from "../../../helpers/world.ts";

export interface StagedBuild {
  clusterId: string;
  /** The pipeline's name. */
  name: string;
  steps: Step[];
  state?: BuildState;
  /** By the label of the job. Others stay as they began. */
  states?: Record<string, JobState>;
}

/** Makes a build whose jobs are in these states, 3 minutes after it began. */
export async function makeStagedBuild(
  { services }: Pick<World, "services">,
  actor: Actor,
  { clusterId, name, steps, state = "running", states = {} }: StagedBuild,
): Promise<{ build: Build; jobs: Job[] }> {
  const { db, clock } = services;
  const pipeline = await createPipeline(services, actor, { clusterId, name, steps });
  const { build } = await createBuildByHand(services, actor, pipeline, { message: name, source: "ui" });
  const { builds, jobs } = db.tables;
  const at = (seconds: number) => new Date(clock.now().getTime() - (180 - seconds) * secondMs);
  const made = wholeJobs(await db.select().from(jobs).where(eq(jobs.buildId, build.id)));
  await db.transaction(async (tx) => {
    await tx
      .update(builds)
      .set({ state, createdAt: at(0), startedAt: at(4) })
      .where(eq(builds.id, build.id));
    for (const job of made) {
      const given = states[job.label ?? ""];
      if (given === undefined) continue;
      const isOver = finishedJobStates.includes(given);
      const times = {
        scheduledAt: at(0),
        startedAt: at(4 + job.position),
        finishedAt: isOver ? at(70) : null,
      };
      await tx
        .update(jobs)
        .set({ state: given, ...(given !== "scheduled" && times) })
        .where(eq(jobs.id, job.id));
    }
  });
  return { build, jobs: made };
}

/** One step, two that wait for it, and one that waits for both. */
export const diamond: Step[] = [
  { label: "Build", key: "build", command: "make build" },
  { label: "Unit tests", key: "unit", command: "make unit", depends_on: [{ step: "build" }] },
  { label: "Tests in a browser", key: "browser", command: "make browser", depends_on: [{ step: "build" }] },
  { label: "Deploy", command: "make deploy", depends_on: [{ step: "unit" }, { step: "browser" }] },
];

const systems = ["linux", "macos", "windows"];
const versions = ["20", "22", "24", "26"];
export const matrix: Step[] = [
  { label: "Lint", command: "make lint" },
  {
    label: "Test on {{matrix.system}}, Node {{matrix.version}}",
    command: "make test",
    matrix: {
      setup: { system: systems, version: versions },
      adjustments: [{ with: { system: "windows", version: "20" }, skip: "Nobody uses it" }],
    },
  },
  { type: "wait" },
  { label: "Publish", command: "make publish", branches: "release/*" },
];

export const groups: Step[] = [
  { label: "Prepare", command: "make prepare" },
  { type: "wait", label: "The wait" },
  {
    type: "group",
    label: "Checks",
    key: "checks",
    steps: [
      { label: "Lint", command: "make lint" },
      { label: "Types", command: "make types" },
      { type: "wait" },
      { label: "Report", command: "make report" },
    ],
  },
  {
    type: "group",
    label: "Tests",
    steps: [
      { label: "Shard %N", command: "make test", parallelism: 8 },
      { label: "End to end", command: "make e2e" },
    ],
  },
  { label: "Deploy", command: "make deploy", depends_on: [{ step: "checks" }] },
];
