import { type Actor, audit } from "../../accounts/audit.ts";
import { listUsersById } from "../../accounts/user-store.ts";
import type { Tx } from "../../db/database.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import { notFound, Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { finishedBuildStates } from "../../vocabulary.ts";
import { auditSubject, requireBuild } from "../reading/require.ts";
import { cancelBuildIfRunning } from "../rows/build-states-store.ts";
import type { Build, BuildKey } from "../rows/build-store.ts";
import type { JobFacts } from "../rows/job-store.ts";
import { cancelJobsIfUnfinished, findJob, lockBuilds } from "../rows/progress-store.ts";
import { buildTopics } from "../rows/topics.ts";
import { settleBuild } from "./progress.ts";

/**
 * Cancels a build. Agents stop the jobs that they have, and then the build is canceled.
 * @throws Refusal 404, 422 if it has finished
 */
export async function cancelBuild(
  services: Services,
  actor: Actor,
  pipeline: PipelineFacts,
  key: BuildKey,
): Promise<void> {
  const build = await requireBuild(services.db, pipeline, key);
  const now = services.clock.now();
  const changed = await services.db.transaction(async (tx) => {
    const [present] = await lockBuilds(tx, [build.id]);
    const jobs = present && (await cancelIfUnfinished(tx, present, now));
    if (jobs && present.state !== "canceling")
      await audit(tx, actor, "canceled", auditSubject(build, pipeline));
    return jobs;
  });
  if (!changed) throw finishedAlready();
  services.events.publish(buildTopics(build, changed));
}

/**
 * Cancels a build for a job.
 * @param reason names the job, for people
 * @throws Refusal 404, 422 if it has finished
 */
export async function cancelBuildByJob(services: Services, { id }: Build, reason: string): Promise<void> {
  const now = services.clock.now();
  const canceled = await services.db.transaction(async (tx) => {
    const [build] = await lockBuilds(tx, [id]);
    if (!build) throw notFound("build");
    return { build, jobs: await cancelIfUnfinished(tx, build, now, reason) };
  });
  const { build, jobs } = canceled;
  if (!jobs) throw finishedAlready();
  services.events.publish(buildTopics(build, jobs));
}

/** Call with the build locked. @returns the jobs that changed; undefined if the build has finished */
export async function cancelIfUnfinished(
  tx: Tx,
  build: Build,
  now: Date,
  reason?: string,
): Promise<JobFacts[] | undefined> {
  if (finishedBuildStates.includes(build.state)) return undefined;
  const jobs = await cancelJobsIfUnfinished(tx, { build, ...(reason && { reason }) }, now);
  await cancelBuildIfRunning(tx, { id: build.id, reason: reason ?? null });
  await settleBuild(tx, { ...build, state: "canceling" }, now);
  return jobs;
}

function finishedAlready(): Refusal {
  return new Refusal(422, "Build cannot be canceled: it has finished already");
}

/**
 * Cancels a job. Its build goes on without it, and fails.
 * @throws Refusal 404, 422 if it has finished
 */
export async function cancelJob(
  services: Services,
  actor: Actor,
  { build, pipeline }: { build: Build; pipeline: PipelineFacts },
  jobId: string,
): Promise<void> {
  const now = services.clock.now();
  const user = (await listUsersById(services.db, [actor.userId])).get(actor.userId);
  const reason = `Canceled by ${user?.name ?? "a person"}`;
  const changed = await services.db.transaction(async (tx) => {
    const [present] = await lockBuilds(tx, [build.id]);
    const job = await findJob(tx, jobId);
    if (!present || job?.buildId !== build.id || !isCancelable(job)) throw notFound("job");
    if (job.state === "canceling") return [job];
    const jobs = await cancelJobsIfUnfinished(tx, { build: present, jobId, reason }, now);
    if (jobs.length === 0) throw new Refusal(422, "Job cannot be canceled: it has finished already");
    await audit(tx, actor, "canceled a job of", auditSubject(build, pipeline));
    return [...jobs, ...(await settleBuild(tx, present, now))];
  });
  services.events.publish(buildTopics(build, changed));
}

/** Waits end with their build. */
function isCancelable({ type }: JobFacts): boolean {
  return type === "script" || type === "trigger";
}
