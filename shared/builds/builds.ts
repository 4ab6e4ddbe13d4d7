import { listAuditEvents } from "../accounts/audit-store.ts";
import { restBetweenTransactions } from "../db/batches.ts";
import type { Db } from "../db/database.ts";
import type { ListedRows, ListPage } from "../db/list-page.ts";
import { maxJobBytes } from "../pipelines/steps.ts";
import { listPipelinesById, type Pipeline } from "../pipelines/store.ts";
import type { Services } from "../process/services.ts";
import { exactSize, notFound, Refusal } from "../refusal.ts";
import { afterDays, atOnce, expiring } from "../retention/expiring.ts";
import { uncountBuilds } from "../retention/records.ts";
import { listBuilds } from "./list.ts";
import type { BuildFilter } from "./list-store.ts";
import { deleteJobTokensExpiredBefore, listMetaData, measureMetaData } from "./meta-data-store.ts";
import {
  type Build,
  deleteBuilds,
  findBuild,
  listBuildNumbers,
  listBuildsFinishedBefore,
  listBuildsOfPipelines,
  listDeletedPipelinesWithBuilds,
  listJobs,
  measureJobs,
} from "./store.ts";

const maxBuildsAtOnce = 200;
const maxPipelinesAtOnce = 100;
/** The limit of a page of builds. One build may have as much, with retries. */
const maxDetailBytes = 2 * maxJobBytes;

export interface BuildDetails {
  build: Build;
  pipeline: Pipeline;
  jobs: Awaited<ReturnType<typeof listJobs>>;
  metaData: Record<string, string>;
  rebuiltFrom: Pick<Build, "id" | "number"> | undefined;
}

/**
 * A page of builds, newest first.
 * @throws Refusal 503; 422 if their details are too large for one answer
 */
export async function listBuildDetails(
  db: Db,
  filter: BuildFilter,
  page: ListPage,
  { hasJobs = true } = {},
): Promise<ListedRows<BuildDetails>> {
  const list = await listBuilds(db, filter, page);
  if (list.rows.length > 1) await requireRoomForDetails(db, list.rows, hasJobs);
  return { ...list, rows: await withDetails(db, list.rows, hasJobs) };
}

async function requireRoomForDetails(db: Db, builds: Build[], hasJobs: boolean): Promise<void> {
  const ids = builds.map(({ id }) => id);
  const ofJobs = hasJobs ? (await measureJobs(db, ids)).bytes : 0;
  const ofMetaData = (await measureMetaData(db, ids)).bytes;
  if (ofJobs + ofMetaData > maxDetailBytes)
    throw new Refusal(
      422,
      `The page would be larger than ${exactSize(maxDetailBytes)}. Ask for fewer builds with per_page, or leave out their jobs with exclude_jobs`,
    );
}

/** @throws Refusal 404 */
export async function requireBuild(
  db: Db,
  pipeline: Pick<Pipeline, "id">,
  number: number,
): Promise<BuildDetails> {
  const [details] = await withDetails(db, [await requireBuildRow(db, pipeline, number)]);
  if (!details) throw notFound("build");
  return details;
}

/** Without its jobs, which may have 16 MB. @throws Refusal 404 */
export async function requireBuildRow(
  db: Db,
  pipeline: Pick<Pipeline, "id">,
  number: number,
): Promise<Build> {
  const build = await findBuild(db, pipeline.id, number);
  if (!build) throw notFound("build");
  return build;
}

async function withDetails(db: Db, builds: Build[], hasJobs = true): Promise<BuildDetails[]> {
  const ids = builds.map((build) => build.id);
  const pipelines = await listPipelinesById(db, [...new Set(builds.map((build) => build.pipelineId))]);
  const pipelineById = new Map(pipelines.map((pipeline) => [pipeline.id, pipeline]));
  const jobs = Map.groupBy(hasJobs ? await listJobs(db, ids) : [], ({ job }) => job.buildId);
  const rebuilt = await listBuildNumbers(
    db,
    builds.flatMap(({ rebuiltFromId }) => rebuiltFromId ?? []),
  );
  const rebuiltById = new Map(rebuilt.map((row) => [row.id, row]));
  const metaData = Map.groupBy(await listMetaData(db, ids), (row) => row.buildId);

  return builds.flatMap((build) => {
    const pipeline = pipelineById.get(build.pipelineId);
    if (!pipeline) return []; // deleted after its builds were read
    const entries = (metaData.get(build.id) ?? []).map(({ key, value }) => [key, value] as const);
    return [
      {
        build,
        pipeline,
        jobs: jobs.get(build.id) ?? [],
        metaData: Object.fromEntries(entries),
        rebuiltFrom: rebuiltById.get(build.rebuiltFromId ?? ""),
      },
    ];
  });
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

export const expiredJobTokens = expiring("jobTokens", atOnce, deleteJobTokensExpiredBefore);

/**
 * Purges finished builds past their retention, and all builds of deleted pipelines.
 * @param purgeLogs deletes the logs of builds in small transactions: a cascade would be a long one
 * @returns the number of builds
 */
export async function purgeBuilds(
  { db, clock, config }: Services,
  purgeLogs: (buildIds: string[]) => Promise<void>,
): Promise<number> {
  const before = afterDays("buildRetentionDays")(clock.now(), config);
  const purge = async (list: (limit: number) => Promise<string[]>) => {
    for (let total = 0; ; ) {
      const ids = await list(maxBuildsAtOnce);
      if (ids.length === 0) return total;
      await purgeLogs(ids);
      total += await db.transaction(async (tx) => {
        await uncountBuilds(tx, ids);
        return deleteBuilds(tx, ids);
      });
      await restBetweenTransactions();
    }
  };
  const listOfDeleted = async (limit: number) =>
    listBuildsOfPipelines(db, await listDeletedPipelinesWithBuilds(db, maxPipelinesAtOnce), limit);
  return (await purge(listOfDeleted)) + (await purge((limit) => listBuildsFinishedBefore(db, before, limit)));
}

export function auditSubject({ id, number }: Build, { slug }: Pick<Pipeline, "slug">) {
  return { type: "build", id, name: `${slug} #${number}` } as const;
}
