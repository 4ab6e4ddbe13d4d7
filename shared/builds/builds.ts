import { type Actor, audit } from "../accounts/audit.ts";
import { listAuditEvents } from "../accounts/audit-store.ts";
import type { Db } from "../db/database.ts";
import type { ListedRows, ListPage } from "../db/list-page.ts";
import { purgeInBatches } from "../db/purge-in-batches.ts";
import { dayMs } from "../durations.ts";
import { listDeletedPipelineIds, listPipelinesById, type Pipeline } from "../pipelines/store.ts";
import type { Topic } from "../redis/events.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import { listBuilds } from "./list.ts";
import type { BuildFilter } from "./list-store.ts";
import { deleteJobTokensExpiredBefore, listMetaData } from "./meta-data-store.ts";
import {
  type Build,
  cancelBuildIfUnfinished,
  cancelUnfinishedJobs,
  deleteBuildsFinishedBefore,
  deleteBuildsOfPipelines,
  findBuild,
  listJobs,
} from "./store.ts";

export interface BuildDetails {
  build: Build;
  pipeline: Pipeline;
  jobs: Awaited<ReturnType<typeof listJobs>>;
  metaData: Record<string, string>;
}

/**
 * A page of builds, newest first.
 * @throws Refusal 503
 */
export async function listBuildDetails(
  db: Db,
  filter: BuildFilter,
  page: ListPage,
  { hasJobs = true } = {},
): Promise<ListedRows<BuildDetails>> {
  const list = await listBuilds(db, filter, page);
  return { ...list, rows: await withDetails(db, list.rows, hasJobs) };
}

/** @throws Refusal 404 */
export async function requireBuild(db: Db, pipeline: Pipeline, number: number): Promise<BuildDetails> {
  const build = await findBuild(db, pipeline.id, number);
  const [details] = build ? await withDetails(db, [build]) : [];
  if (!details) throw notFound("build");
  return details;
}

async function withDetails(db: Db, builds: Build[], hasJobs = true): Promise<BuildDetails[]> {
  const ids = builds.map((build) => build.id);
  const pipelines = await listPipelinesById(db, [...new Set(builds.map((build) => build.pipelineId))]);
  const pipelineById = new Map(pipelines.map((pipeline) => [pipeline.id, pipeline]));
  const jobs = Map.groupBy(hasJobs ? await listJobs(db, ids) : [], ({ job }) => job.buildId);
  const metaData = Map.groupBy(await listMetaData(db, ids), (row) => row.buildId);

  return builds.flatMap((build) => {
    const pipeline = pipelineById.get(build.pipelineId);
    if (!pipeline) return []; // deleted after its builds were read
    const entries = (metaData.get(build.id) ?? []).map(({ key, value }) => [key, value] as const);
    return [{ build, pipeline, jobs: jobs.get(build.id) ?? [], metaData: Object.fromEntries(entries) }];
  });
}

/**
 * Cancels a build and its unfinished jobs.
 * @throws Refusal 404, 422 if it has finished
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
    await audit(tx, actor, "canceled", auditSubject(build, pipeline));
    return true;
  });
  if (!canceled) throw new Refusal(422, "Build cannot be canceled: it has finished already");
  const queues = jobs.map(({ queue }): Topic => `queue:${queue.id}`);
  events.publish([`build:${build.id}`, `pipeline:${pipeline.id}`, ...queues]);
  return requireBuild(db, pipeline, number);
}

/** The name of the user who canceled a build, until the audit entry is purged. */
export async function findCanceler(
  db: Db,
  { id, organizationId, state }: Build,
): Promise<string | undefined> {
  if (state !== "canceled") return undefined;
  const [entry] = await listAuditEvents(db, { organizationId, subjects: { types: ["build"], ids: [id] } }, 1);
  return entry?.actor;
}

/**
 * Purges finished builds past their retention, all builds of deleted pipelines, and expired job tokens.
 * @returns the number of builds
 */
export async function purgeBuilds({ db, clock, config }: Services): Promise<number> {
  const now = clock.now();
  const before = new Date(now.getTime() - config.buildRetentionDays * dayMs);
  await purgeInBatches(db, (tx, limit) => deleteJobTokensExpiredBefore(tx, now, limit));
  const pipelineIds = await listDeletedPipelineIds(db);
  const ofDeleted = await purgeInBatches(db, (tx, limit) => deleteBuildsOfPipelines(tx, pipelineIds, limit));
  return ofDeleted + (await purgeInBatches(db, (tx, limit) => deleteBuildsFinishedBefore(tx, before, limit)));
}

export function auditSubject({ id, number }: Build, { slug }: Pipeline) {
  return { type: "build", id, name: `${slug} #${number}` } as const;
}
