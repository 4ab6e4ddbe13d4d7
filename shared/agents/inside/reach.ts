import { type Build, listBuildsById } from "../../builds/rows/build-store.ts";
import { isOfFork } from "../../builds/rows/facts.ts";
import { rootOf } from "../../builds/triggered/request.ts";
import type { Db } from "../../db/database.ts";
import { isId } from "../../ids.ts";
import { findPipelineFactsById } from "../../pipelines/store.ts";
import { excerpt, notFound } from "../../refusal.ts";
import { findJobOfStep } from "./step-store.ts";

/** A job that makes a call, and its build. */
export interface CallingJob {
  jobId: string;
  build: Build;
}

/**
 * The build that a job names: its own, or one of the same cluster. Jobs of forks reach builds of their own chain only.
 * @throws Refusal 404
 */
export async function requireBuildInReach(db: Db, { build }: CallingJob, id: string): Promise<Build> {
  if (id === build.id) return build;
  const other = isId(id) ? (await listBuildsById(db, [id])).get(id) : undefined;
  const [own, target] = await Promise.all([
    findPipelineFactsById(db, { id: build.pipelineId }),
    other && findPipelineFactsById(db, { id: other.pipelineId }),
  ]);
  if (!other || !own || own.clusterId !== target?.clusterId) throw notFound("build");
  if (isOfFork(build) && rootOf(other) !== rootOf(build)) throw notFound("build");
  return other;
}

/** `Canceled by the job "Tests" of Deploy #3`: for the people who look at what it canceled. */
export async function canceledBy(db: Db, { jobId, build }: CallingJob): Promise<string> {
  const pipeline = await findPipelineFactsById(db, { id: build.pipelineId });
  const job = await findJobOfStep(db, jobId);
  const title = job?.label ?? job?.command?.split("\n")[0] ?? jobId;
  return `Canceled by the job “${excerpt(title)}” of ${pipeline?.name ?? "a pipeline"} #${build.number}`;
}
