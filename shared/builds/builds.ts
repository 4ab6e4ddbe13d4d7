import { type Actor, audit } from "../accounts/audit.ts";
import { listAuditEvents } from "../accounts/audit-store.ts";
import type { Db, Tx } from "../db/database.ts";
import { purgeInBatches } from "../db/purge-in-batches.ts";
import { listDeletedPipelineIds, listPipelinesById, type Pipeline } from "../pipelines/store.ts";
import type { Topic } from "../redis/events.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import { deleteJobTokensExpiredBefore, listMetaData } from "./meta-data-store.ts";
import {
  type Build,
  type BuildFilter,
  cancelBuildIfUnfinished,
  cancelUnfinishedJobs,
  countBuilds,
  deleteBuildsFinishedBefore,
  deleteBuildsOfPipelines,
  findBuild,
  listBuilds,
  listJobs,
} from "./store.ts";

/** A build with all that its presentation needs. */
export interface BuildDetails {
  build: Build;
  pipeline: Pipeline;
  jobs: Awaited<ReturnType<typeof listJobs>>;
  metaData: Record<string, string>;
}

/** A page of builds, newest first, and how many there are in all. */
export async function listBuildDetails(
  db: Db,
  filter: BuildFilter,
  page: { limit: number; offset: number },
): Promise<{ items: BuildDetails[]; total: number }> {
  const total = await countBuilds(db, filter);
  const builds = page.offset < total ? await listBuilds(db, filter, page) : [];
  return { items: await withDetails(db, builds), total };
}

/** @throws Refusal 404 */
export async function requireBuild(db: Db, pipeline: Pipeline, number: number): Promise<BuildDetails> {
  const build = await findBuild(db, pipeline.id, number);
  const [details] = build ? await withDetails(db, [build]) : [];
  if (!details) throw notFound("build");
  return details;
}

async function withDetails(db: Db, builds: Build[]): Promise<BuildDetails[]> {
  const ids = builds.map((build) => build.id);
  const pipelines = await listPipelinesById(db, [...new Set(builds.map((build) => build.pipelineId))]);
  const pipelineById = new Map(pipelines.map((pipeline) => [pipeline.id, pipeline]));
  const jobs = Map.groupBy(await listJobs(db, ids), ({ job }) => job.buildId);
  const metaData = Map.groupBy(await listMetaData(db, ids), (row) => row.buildId);

  return builds.flatMap((build) => {
    const pipeline = pipelineById.get(build.pipelineId);
    if (!pipeline) return []; // deleted since its builds were read
    const entries = (metaData.get(build.id) ?? []).map(({ key, value }) => [key, value] as const);
    return [{ build, pipeline, jobs: jobs.get(build.id) ?? [], metaData: Object.fromEntries(entries) }];
  });
}

/**
 * Cancel a build: what waits is never handed out, and who works on it learns of it.
 * @throws Refusal 404, 422 when it has ended already
 */
export async function cancelBuild(
  { db, clock, events }: Services,
  actor: Actor,
  pipeline: Pipeline,
  number: number,
): Promise<BuildDetails> {
  const { build, jobs } = await requireBuild(db, pipeline, number);
  const now = clock.now();
  const canceled = await db.transaction(async (tx) => {
    const changed = await cancelBuildIfUnfinished(tx, build.id, now);
    if (!changed) return false;
    await cancelUnfinishedJobs(tx, build.id, now);
    await recordOfBuild(tx, actor, { build, pipeline }, "canceled", now);
    return true;
  });
  if (!canceled) throw new Refusal(422, "Build cannot be canceled: it has finished already");
  const queues = jobs.map(({ queue }): Topic => `queue:${queue.id}`);
  events.publish([`build:${build.id}`, `pipeline:${pipeline.id}`, ...queues]);
  return requireBuild(db, pipeline, number);
}

/** The name of who canceled a build, as long as the audit entries tell it. */
export async function findCanceler(
  db: Db,
  { id, organizationId, state }: Build,
): Promise<string | undefined> {
  if (state !== "canceled") return undefined;
  const [entry] = await listAuditEvents(db, { organizationId, subjects: { types: ["build"], ids: [id] } }, 1);
  return entry?.actor;
}

/** Forget finished builds past their retention, all builds of deleted pipelines, and job tokens past their use. Returns how many builds went. */
export async function purgeBuilds({ db, clock, config }: Services): Promise<number> {
  const now = clock.now();
  const before = new Date(now.getTime() - config.buildRetentionDays * 86_400_000);
  await purgeInBatches(db, (tx, limit) => deleteJobTokensExpiredBefore(tx, now, limit));
  const ofDeleted = await listDeletedPipelineIds(db);
  const gone = await purgeInBatches(db, (tx, limit) => deleteBuildsOfPipelines(tx, ofDeleted, limit));
  return gone + (await purgeInBatches(db, (tx, limit) => deleteBuildsFinishedBefore(tx, before, limit)));
}

export function recordOfBuild(
  tx: Tx,
  actor: Actor,
  { build: { id, number }, pipeline: { slug } }: Pick<BuildDetails, "build" | "pipeline">,
  action: string,
  now: Date,
): Promise<void> {
  const subject = `${slug} #${number}`;
  return audit(tx, actor, action, { type: "build", id, name: subject });
}
