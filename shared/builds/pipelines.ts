import { recordAudit } from "../accounts/audit.ts";
import {
  nameProblems,
  requireOperator,
  requireOrganization,
  slugProblems,
} from "../accounts/organizations.ts";
import type { Db, Tx } from "../db/database.ts";
import type { Step } from "../db/schema.ts";
import { newId } from "../ids.ts";
import { requireCluster } from "../queues/clusters.ts";
import { notFound, validationFailed } from "../refusal.ts";
import type { Services } from "../services.ts";
import { findPipeline, insertPipeline, type Pipeline } from "./pipeline-store.ts";
import { resolveStepQueues, stepProblems } from "./step-queues.ts";

/** A default step that works anywhere: the first build of a new pipeline shows something. */
const defaultCommand = "echo hello";

/**
 * A new pipeline with one step, made by the operator.
 * @param input.queue key of the step's queue; absent: the cluster's default queue
 * @throws Refusal 404, 422
 */
export async function createPipeline(
  services: Services,
  input: {
    organization: string;
    clusterId: string;
    slug: string;
    name: string;
    command?: string | undefined;
    queue?: string | undefined;
  },
): Promise<Pipeline> {
  const problems = [...slugProblems(input.slug), ...nameProblems(input.name)];
  if (problems.length > 0) throw validationFailed(...problems);

  const now = services.clock.now();
  const step: Step = {
    command: input.command ?? defaultCommand,
    ...(input.queue === undefined ? {} : { agents: { queue: input.queue } }),
  };
  return services.db.transaction(async (tx) => {
    const organization = await requireOrganization(tx, input.organization);
    const cluster = await requireCluster(tx, organization.id, input.clusterId);
    if (await findPipeline(tx, organization.id, input.slug))
      throw validationFailed("Slug has already been taken");
    const queueOf = await resolveStepQueues(tx, [{ clusterId: cluster.id, steps: [step] }]);
    const unresolved = stepProblems(cluster.id, [step], queueOf);
    if (unresolved.length > 0) throw validationFailed(...unresolved);

    const operator = await requireOperator(tx, organization);
    const pipeline: Pipeline = {
      id: newId(now),
      organizationId: organization.id,
      clusterId: cluster.id,
      slug: input.slug,
      name: input.name,
      defaultBranch: "main",
      steps: [step],
      lastBuildNumber: 0,
      createdAt: now,
      createdById: operator.id,
    };
    await insertPipeline(tx, pipeline);
    await recordAudit(
      tx,
      {
        organizationId: organization.id,
        actorId: operator.id,
        action: "created",
        subjectType: "pipeline",
        subjectId: pipeline.id,
        subject: pipeline.slug,
      },
      now,
    );
    return pipeline;
  });
}

export async function requirePipeline(db: Db | Tx, organizationId: string, slug: string): Promise<Pipeline> {
  const pipeline = await findPipeline(db, organizationId, slug);
  if (!pipeline) throw notFound("pipeline");
  return pipeline;
}
