import { type Actor, audit } from "../../accounts/audit.ts";
import { requireStorage } from "../../accounts/storage.ts";
import type { Tx } from "../../db/database.ts";
import { lockPipeline, type PipelineFacts } from "../../pipelines/store.ts";
import { notFound, Refusal, validationFailed } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { writes } from "../../sharing/resources.ts";
import { auditSubject, requireBuild } from "../reading/require.ts";
import { type Build, type BuildKey, listLastRebuilds } from "../rows/build-store.ts";
import { type BuildRequest, createBuilds } from "./builds.ts";
import type { ConditionReader } from "./condition-facts.ts";
import { TooManyJobs } from "./too-many-jobs.ts";

/**
 * Makes a new build like another, with the present steps of the pipeline. It can read the same webhook payload.
 * @throws Refusal 404, 422 also if its pipeline allows no rebuilds
 */
export async function rebuild(
  services: Services,
  actor: Actor,
  pipeline: PipelineFacts,
  key: BuildKey,
  source: "api" | "ui" = "api",
): Promise<{ build: Build }> {
  const { db, events } = services;
  if (!pipeline.allowRebuilds) throw new Refusal(422, "Rebuilds are not allowed for this pipeline");
  const original = await requireBuild(db, pipeline, key);
  const make = async (tx: Tx) => {
    await requireStorage(tx, services.config, pipeline.organizationId);
    const request: BuildRequest = {
      pipelineId: pipeline.id,
      deliveryId: original.deliveryId,
      rebuild: await takeRebuildNumber(tx, original),
      creatorId: actor.userId,
      author: original.author,
      rebuiltFromId: original.id,
      source,
      message: original.message,
      commit: original.commit,
      branch: original.branch,
      environmentSealed: original.environmentSealed,
      options: original.options,
    };
    const made = await createOneBuild(tx, services, request);
    await audit(tx, actor, "created", auditSubject(made.build, pipeline));
    return made;
  };
  const { build, changed } = await writes.take(pipeline.organizationId, () => db.transaction(make));
  events.publish(changed);
  return { build };
}

async function takeRebuildNumber(tx: Tx, { pipelineId, deliveryId }: Build): Promise<number> {
  if (deliveryId === null) return 0;
  return lockNextRebuild(tx, { pipelineId, deliveryId });
}

/**
 * The next rebuild number of a delivery. Locks the pipeline, so that no other gets it.
 * @throws Refusal 404
 */
export async function lockNextRebuild(
  tx: Tx,
  { pipelineId, deliveryId }: { pipelineId: string; deliveryId: string },
): Promise<number> {
  if (!(await lockPipeline(tx, pipelineId))) throw notFound("pipeline");
  return nextRebuild((await listLastRebuilds(tx, [deliveryId])).get(deliveryId));
}

/** @param last the highest number of the delivery's builds */
export function nextRebuild(last = 0): number {
  return last + 1;
}

/** @throws Refusal 422 */
export async function createOneBuild(tx: Tx, reader: ConditionReader, request: BuildRequest) {
  const { builds, changed } = await createAllBuilds(tx, reader, [request]);
  return { build: builds[0] as Build, changed };
}

/** Makes a build for each request. @throws Refusal 422 if one of them cannot be built: the transaction must end */
export async function createAllBuilds(tx: Tx, reader: ConditionReader, requests: BuildRequest[]) {
  const { builds, problems, changed } = await tryToCreate(tx, reader, requests);
  if (problems.length > 0) throw validationFailed(...problems);
  if (builds.length < requests.length)
    throw new Refusal(422, "The pipeline cannot build: a step has no queue to run on");
  return { builds, changed };
}

async function tryToCreate(tx: Tx, reader: ConditionReader, requests: BuildRequest[]) {
  try {
    return await createBuilds(tx, reader, requests, tx.now);
  } catch (error) {
    if (!(error instanceof TooManyJobs)) throw error;
    throw new Refusal(422, "The builds have too many jobs to be made at once");
  }
}
