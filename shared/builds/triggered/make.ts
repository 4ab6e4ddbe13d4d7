import { requireStorage } from "../../accounts/storage.ts";
import type { Tx } from "../../db/database.ts";
import { findPipelineFacts, findPipelineFactsById } from "../../pipelines/store.ts";
import type { Topic } from "../../redis/events.ts";
import { Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { writes } from "../../sharing/resources.ts";
import { endTasksOf } from "../../tasks/store.ts";
import { createOneBuild } from "../making/rebuild.ts";
import { settleBuild } from "../progress/progress.ts";
import { startWorkIfIdle } from "../rows/build-states-store.ts";
import type { Build } from "../rows/build-store.ts";
import { putNewsOfChangedJobs } from "../rows/job-news.ts";
import type { Job } from "../rows/job-store.ts";
import { findJob, lockBuilds } from "../rows/progress-store.ts";
import { buildTopics } from "../rows/topics.ts";
import { endingOf, type TriggerEnding } from "./ending.ts";
import { requestOf, rootOf } from "./request.ts";
import { countBuildsOfRoot, findBuildOfJobById, moveTriggerIfStill } from "./store.ts";

// States of the job of a trigger step:
//
// | state                     | event                                          | next                              |
// |---------------------------|------------------------------------------------|-----------------------------------|
// | scheduled                 | its build exists                               | running; passed if it is async    |
// | scheduled                 | there can be no such build                     | failed                            |
// | running                   | its build ends                                 | the state of the build            |
// | running                   | its build is blocked, and counts as passed     | passed                            |
// | passed, failed, canceled  | its build runs again                           | running, and its own build too    |
// | scheduled, running        | cancel of the job or its build                 | canceled, and so is the build     |

/**
 * Makes the build of a trigger step's job, once: afterwards the job is scheduled no more. If there can be none, the job
 * fails with the reason.
 */
export async function makeTriggeredBuild(services: Services, jobId: string): Promise<void> {
  const { db, events } = services;
  const parent = await findBuildOfJobById(db, { jobId });
  const make = () => db.transaction((tx) => makeIn(tx, services, { jobId, parent }));
  events.publish(await writes.take(parent?.organizationId ?? "", make));
}

async function makeIn(
  tx: Tx,
  services: Services,
  { jobId, parent }: { jobId: string; parent: Pick<Build, "id" | "rootBuildId"> | undefined },
): Promise<Topic[]> {
  // With its root: others that trigger builds of that count them afterwards.
  const locked = parent ? await lockBuilds(tx, [...new Set([rootOf(parent), parent.id])].sort()) : [];
  const build = locked.find(({ id }) => id === parent?.id);
  await endTasksOf(tx, "trigger", jobId);
  const job = await findJob(tx, jobId);
  if (!build || job?.state !== "scheduled" || job.type !== "trigger") return [];

  const made = await tryToMake(tx, services, { build, job });
  const isMade = "build" in made;
  const ending: TriggerEnding = isMade
    ? endingOf(job, made.build)
    : { state: "failed", reason: made.refused };
  await moveTriggerIfStill(tx, job, ending);
  await putNewsOfChangedJobs(tx, build, [{ ...job, state: ending.state }]);
  if (isMade) await startWorkIfIdle(tx, build, tx.now);
  const scheduled = await settleBuild(tx, build, tx.now);
  return [...buildTopics(build, scheduled), ...(isMade ? made.changed : [])];
}

type Made = { build: Build; changed: Topic[] } | { refused: string };

async function tryToMake(
  tx: Tx,
  services: Services,
  { build, job }: { build: Build; job: Job },
): Promise<Made> {
  const { organizationId } = build;
  const pipeline = await findPipelineFactsById(tx, { id: build.pipelineId });
  const slug = job.options?.trigger?.trigger ?? "";
  const target = await findPipelineFacts(tx, { organizationId, slug });
  if (!pipeline) return { refused: "The pipeline of the step was deleted" };
  const wanted = requestOf(services, { build, pipeline, job }, target);
  if ("refused" in wanted) return wanted;
  const { buildsPerRoot } = services.config;
  if ((await countBuildsOfRoot(tx, rootOf(build), buildsPerRoot)) >= buildsPerRoot)
    return {
      refused: `The first build of its chain has triggered ${buildsPerRoot} builds, which is the most`,
    };
  try {
    await requireStorage(tx, services.config, organizationId);
    const made = await createOneBuild(tx, services, wanted.request);
    const entries = Object.entries(wanted.metaData).map(([key, value]) => ({ key, value }));
    await tx.insertMany(
      tx.tables.metaData,
      entries.map((entry) => ({ buildId: made.build.id, ...entry })),
    );
    return made;
  } catch (error) {
    // It was refused before anything was written. Other errors end the transaction.
    if (error instanceof Refusal && error.status === 422) return { refused: error.message };
    throw error;
  }
}
