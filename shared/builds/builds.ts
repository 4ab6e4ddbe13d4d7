import { listAuditEvents } from "../accounts/audit-store.ts";
import { restBetweenTransactions } from "../db/batches.ts";
import type { Db } from "../db/database.ts";
import { isId } from "../ids.ts";
import { maxJobBytes } from "../pipelines/steps.ts";
import { findPipelineFactsById, type Pipeline, type PipelineFacts } from "../pipelines/store.ts";
import type { Services } from "../process/services.ts";
import { exactSize, notFound, Refusal } from "../refusal.ts";
import { afterDays, atOnce, expiring } from "../retention/expiring.ts";
import { uncountBuilds } from "../retention/records.ts";
import { measureBuilds } from "../retention/records-store.ts";
import { deleteJobTokensExpiredBefore } from "./meta-data-store.ts";
import { type AnswerSize, type InTurn, type JobFilter, measureAnswers } from "./reading/answer-store.ts";
import {
  type Build,
  type BuildKey,
  deleteBuilds,
  findBuild,
  findBuildOfJob,
  listBuildsFinishedBefore,
  listBuildsOfPipelines,
  listDeletedPipelines,
} from "./store.ts";

const maxBuildsAtOnce = 200;
/** 200 ordinary builds have less. Jobs of as many bytes lock SQLite for 0.2 s; one build with more is purged alone. */
const maxPurgedBytes = 1024 ** 2;
const maxPipelinesAtOnce = 500;
/** The limit of a page of builds. One build may have as much, with retries. */
const maxPageBytes = 2 * maxJobBytes;

/**
 * Measures a page of builds for an answer.
 * @param inTurn runs the read if it has many rows
 * @throws Refusal 422 if it is too large
 */
export async function measurePage(
  db: Db,
  ids: string[],
  content: JobFilter,
  inTurn: InTurn,
): Promise<Map<string, AnswerSize>> {
  const sizes = await measureAnswers(db, ids, content, inTurn);
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size.bytes, 0);
  if (ids.length > 1 && bytes > maxPageBytes)
    throw new Refusal(
      422,
      `The page would be larger than ${exactSize(maxPageBytes)}. Ask for fewer builds with per_page, or leave out their jobs with exclude_jobs`,
    );
  return sizes;
}

/** Without its jobs, which may have 16 MB. @throws Refusal 404 */
export async function requireBuild(db: Db, pipeline: Pick<Pipeline, "id">, key: BuildKey): Promise<Build> {
  const build = await findBuild(db, pipeline.id, key);
  if (!build) throw notFound("build");
  return build;
}

/** The build of a job, with its pipeline. @throws Refusal 404 */
export async function requireBuildOfJob(
  db: Db,
  organizationId: string,
  jobId: string,
): Promise<{ build: Build; pipeline: PipelineFacts }> {
  const build = isId(jobId) ? await findBuildOfJob(db, { organizationId, jobId }) : undefined;
  const pipeline = build && (await findPipelineFactsById(db, { id: build.pipelineId }));
  if (!pipeline) throw notFound("job");
  return { build, pipeline };
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
 * @param purgeContent deletes logs and artifacts of builds in small transactions: a cascade would be a long one
 * @returns the number of builds
 */
export async function purgeBuilds(
  { db, clock, config }: Services,
  purgeContent: (buildIds: string[]) => Promise<void>,
): Promise<number> {
  const before = afterDays("buildRetentionDays")(clock.now(), config);
  const purge = async (list: (limit: number) => Promise<string[]>) => {
    for (let total = 0; ; ) {
      const ids = await list(maxBuildsAtOnce);
      if (ids.length === 0) return total;
      await purgeContent(ids);
      for (const some of inParts(await measureBuilds(db, ids))) {
        total += await db.transaction(async (tx) => {
          await uncountBuilds(tx, some);
          return deleteBuilds(tx, some);
        });
        await restBetweenTransactions();
      }
    }
  };
  let after: string | undefined;
  const listOfDeleted = async (limit: number) => {
    for (;;) {
      const pipelines = await listDeletedPipelines(db, after, maxPipelinesAtOnce);
      const withBuilds = pipelines.flatMap(({ id, firstBuild }) => (firstBuild === null ? [] : id));
      const ids = await listBuildsOfPipelines(db, withBuilds, limit);
      if (ids.length > 0 || pipelines.length < maxPipelinesAtOnce) return ids;
      after = pipelines.at(-1)?.id;
    }
  };
  return (await purge(listOfDeleted)) + (await purge((limit) => listBuildsFinishedBefore(db, before, limit)));
}

/** Jobs, meta-data and annotations go by cascade with their build: a large one is deleted alone. */
function inParts(builds: { id: string; bytes: number }[]): string[][] {
  const parts: string[][] = [];
  let partBytes = Number.POSITIVE_INFINITY;
  for (const { id, bytes } of builds) {
    partBytes += bytes;
    if (partBytes > maxPurgedBytes) {
      parts.push([]);
      partBytes = bytes;
    }
    parts.at(-1)?.push(id);
  }
  return parts;
}

/** A build as audit entries name it. */
export function auditSubject({ id, number }: Build, { slug }: Pick<Pipeline, "slug">) {
  return { type: "build", id, name: `${slug} #${number}` } as const;
}
