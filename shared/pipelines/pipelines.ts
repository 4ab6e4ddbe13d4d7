import { type Actor, audit } from "../accounts/audit.ts";
import { slugProblems } from "../accounts/organizations.ts";
import { countUnfinishedJobs } from "../builds/store.ts";
import { findCluster, lockCluster } from "../clusters/store.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { notFound, Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import type { Step } from "../vocabulary.ts";
import { resolveStepQueues, stepProblems } from "./step-queues.ts";
import {
  findPipeline,
  insertPipeline,
  lockPipeline,
  type Pipeline,
  updatePipelineIfPresent,
} from "./store.ts";

/** A default step that works anywhere: the first build of a new pipeline shows something. */
export const defaultStep: Step = { command: "echo hello" };

export interface NewPipeline {
  name: string;
  /** Its name in addresses; absent: made of the name. */
  slug?: string | undefined;
  clusterId: string;
  /** Default: main. */
  defaultBranch?: string | undefined;
  steps: Step[];
}

/**
 * A new pipeline.
 * @throws Refusal 422
 */
export async function createPipeline(
  services: Services,
  actor: Actor,
  input: NewPipeline,
): Promise<Pipeline> {
  const slug = input.slug ?? slugOf(input.name);
  if (input.slug === undefined && slug === "")
    throw validationFailed("Slug can't be made of this name: give one");
  const problems = slugProblems(slug);
  if (problems.length > 0) throw validationFailed(...problems);

  const now = services.clock.now();
  const organizationId = actor.organization.id;
  return services.db.transaction(async (tx) => {
    await requireRunnable(tx, organizationId, input);
    if (await findPipeline(tx, organizationId, slug)) throw validationFailed("Slug has already been taken");

    const pipeline: Pipeline = {
      id: newId(now),
      organizationId,
      clusterId: input.clusterId,
      slug,
      name: input.name.trim(),
      defaultBranch: input.defaultBranch ?? "main",
      steps: input.steps,
      lastBuildNumber: 0,
      createdAt: now,
      createdById: actor.userId,
      deletedAt: null,
    };
    await insertPipeline(tx, pipeline);
    await recordOfPipeline(tx, actor, pipeline, "created", now);
    return pipeline;
  });
}

/**
 * Change a pipeline; its slug stays. What is absent stays too.
 * @throws Refusal 404, 422
 */
export async function updatePipeline(
  services: Services,
  actor: Actor,
  of: Pipeline,
  change: Partial<Omit<NewPipeline, "slug">>,
): Promise<Pipeline> {
  const now = services.clock.now();
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return services.db.transaction(async (tx) => {
    // Locked: the checks of a move see the steps that a simultaneous change left, and the other way round.
    const present = await lockPipeline(tx, of.id);
    if (!present) throw notFound("pipeline");
    if (change.steps || change.clusterId)
      await requireRunnable(tx, present.organizationId, { ...present, ...given });
    const updated = (await updatePipelineIfPresent(tx, present.id, given)) ?? present;
    await recordOfPipeline(tx, actor, updated, "updated", now);
    return updated;
  });
}

/**
 * Delete a pipeline that has nothing left to run, in the caller's transaction: what belongs to it goes there too.
 * Its builds go little by little.
 * @throws Refusal 404, 422
 */
export async function deletePipelineRow(tx: Tx, actor: Actor, of: Pipeline, now: Date): Promise<void> {
  const deleted = await updatePipelineIfPresent(tx, of.id, { deletedAt: now });
  if (!deleted) throw notFound("pipeline");
  const unfinished = await countUnfinishedJobs(tx, { pipelineId: of.id });
  if (unfinished > 0) throw new Refusal(422, `Pipeline has ${unfinished} unfinished jobs`);
  await recordOfPipeline(tx, actor, deleted, "deleted", now);
}

/** @throws Refusal 404 */
export async function requirePipeline(db: Db | Tx, organizationId: string, slug: string): Promise<Pipeline> {
  const pipeline = await findPipeline(db, organizationId, slug);
  if (!pipeline) throw notFound("pipeline");
  return pipeline;
}

/**
 * The steps can run in the cluster, which is held: its queues stay until the pipeline is stored.
 * @throws Refusal 422
 */
async function requireRunnable(
  tx: Tx,
  organizationId: string,
  { clusterId, steps }: Pick<NewPipeline, "clusterId" | "steps">,
): Promise<void> {
  const cluster = isId(clusterId) ? await findCluster(tx, organizationId, clusterId) : undefined;
  if (!cluster || !(await lockCluster(tx, cluster.id)))
    throw validationFailed("Cluster must be a cluster of the organization");
  const queueOf = await resolveStepQueues(tx, [{ clusterId, steps }]);
  const unresolved = stepProblems(clusterId, steps, queueOf);
  if (unresolved.length > 0) throw validationFailed(...new Set(unresolved));
}

/** `My App (web)` → `my-app-web`. */
function slugOf(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 100)
    .replace(/^-|-$/g, "");
}

function recordOfPipeline(
  tx: Tx,
  actor: Actor,
  { id, slug }: Pipeline,
  action: string,
  now: Date,
): Promise<void> {
  return audit(tx, actor, action, { type: "pipeline", id, name: slug });
}
