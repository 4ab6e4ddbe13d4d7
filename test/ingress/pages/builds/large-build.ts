import { eq } from "drizzle-orm";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { type Job, wholeJobs } from "../../../../shared/builds/rows/job-store.ts";
import { secondMs } from "../../../../shared/durations.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import type { JobState, Step } from "../../../../shared/vocabulary.ts";
import { leaseJob } from "../../../agents/logs/jobs-with-logs.ts";
import type { QueuePages } from "../../../helpers/pages.ts";

const names = Array.from({ length: 48 }, (_, index) => `case-${index + 1}`);
export const failedJob = "Contract tests of payments";
export const message = `Charge a card once only

The provider repeats a request that it thinks is lost. The key of the request
is kept for a day, and a repeated one gets the first answer.

Closes #418`;

/** 190 jobs: two matrices, a group, single steps, one that fails among them, and two behind a wait. */
const steps: Step[] = [
  { label: "Install", command: "npm ci\nnpm run build" },
  { label: "Unit tests {{matrix}}", command: "npm test", matrix: { setup: names } },
  {
    type: "group",
    label: "Checks",
    key: "checks",
    steps: Array.from({ length: 20 }, (_, index) => ({ label: `Check ${index + 1}`, command: "make check" })),
  },
  { label: "Browser tests %N of %t", command: "npm run browser", parallelism: 70 },
  ...Array.from({ length: 48 }, (_, index) => ({ label: `Package ${index + 1}`, command: "make package" })),
  { label: failedJob, command: "npm run contract" },
  { type: "wait" },
  { label: "Deploy to staging", command: "./deploy.sh staging" },
  { label: "Deploy to production", command: "./deploy.sh production" },
];

export const log = [
  "--- Install",
  ...Array.from({ length: 30 }, (_, index) => `added package ${index}`),
  "+++ Contract tests",
  ...Array.from({ length: 12 }, (_, index) => `ok ${index + 1} - contract ${index + 1}`),
  "\x1b[31mError: expected 201, got 402\x1b[0m",
  "    at charge (src/payments/charge.ts:48:11)",
  "1 of 13 contracts broken",
  "",
].join("\n");

/** A build of 190 jobs of which one failed, after one that passed. Its jobs as they were made. */
export async function makeLargeBuild(pages: QueuePages): Promise<{ path: string; jobs: Job[] }> {
  const { services, actor, acme, clock, paths } = pages;
  const { db } = services;
  const pipeline = await createPipeline(services, actor, {
    clusterId: acme.cluster.id,
    name: "Shop",
    repository: "git@github.com:acme/shop.git",
    steps,
  });
  const { builds, jobs } = db.tables;
  const at = (seconds: number) => new Date(clock.now().getTime() - (400 - seconds) * secondMs);
  let made: Job[] = [];
  for (const number of [1, 2]) {
    const { build } = await createBuildByHand(services, actor, pipeline, {
      message,
      commit: `${number}`.repeat(40),
      branch: "main",
      source: "ui",
    });
    made = wholeJobs(await db.select().from(jobs).where(eq(jobs.buildId, build.id)));
    const stateOf = ({ label, type }: Job): JobState => {
      if (number === 1 || !(label === failedJob || type === "waiter" || label?.startsWith("Deploy")))
        return "passed";
      return label === failedJob ? "failed" : "waiting_failed";
    };
    await db.transaction(async (tx) => {
      await tx
        .update(builds)
        .set({
          state: number === 1 ? "passed" : "failed",
          createdAt: at(0),
          startedAt: at(4),
          finishedAt: at(310 - 40 * (2 - number)),
        })
        .where(eq(builds.id, build.id));
      for (const [index, job] of made.entries()) {
        const state = stateOf(job);
        const ran = state === "waiting_failed" ? {} : { scheduledAt: at(0), startedAt: at(4 + index) };
        await tx
          .update(jobs)
          .set({
            ...ran,
            state,
            finishedAt: at(60 + index + ((index * 37) % 50)),
            exitStatus: state === "failed" ? 1 : state === "passed" ? 0 : null,
          })
          .where(eq(jobs.id, job.id));
      }
    });
  }
  const failed = made.find(({ label }) => label === failedJob) as Job;
  const [{ startedAt, finishedAt } = failed] = await db.select().from(jobs).where(eq(jobs.id, failed.id));
  const agent = await leaseJob(services, { id: failed.id, organizationId: acme.id });
  await agent.log(log);
  await agent.finish("failed");
  await db.transaction((tx) => tx.update(jobs).set({ startedAt, finishedAt }).where(eq(jobs.id, failed.id)));
  return { path: `${paths.pipelines}/shop/builds/2`, jobs: made };
}
