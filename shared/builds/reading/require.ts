import { listAuditEvents } from "../../accounts/audit-store.ts";
import type { Db } from "../../db/database.ts";
import { isId } from "../../ids.ts";
import { maxJobBytes } from "../../pipelines/steps.ts";
import { findPipelineFactsById, type Pipeline, type PipelineFacts } from "../../pipelines/store.ts";
import { exactSize, notFound, Refusal } from "../../refusal.ts";
import { type Build, type BuildKey, findBuild, findBuildOfJob } from "../rows/build-store.ts";
import { type AnswerSize, type InTurn, type JobFilter, measureAnswers } from "./answer-store.ts";

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

/** A build as audit entries name it. */
export function auditSubject({ id, number }: Build, { slug }: Pick<Pipeline, "slug">) {
  return { type: "build", id, name: `${slug} #${number}` } as const;
}
