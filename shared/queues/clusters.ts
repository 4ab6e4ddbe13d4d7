import { recordAudit } from "../accounts/audit.ts";
import { nameProblems, requireOperator, requireOrganization } from "../accounts/organizations.ts";
import type { Db, Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { notFound, validationFailed } from "../refusal.ts";
import type { Services } from "../services.ts";
import { type Cluster, findCluster, findClusterByName, insertCluster } from "./store.ts";

/**
 * A new cluster, without a default queue.
 * @throws Refusal 404, 422
 */
export async function createCluster(
  services: Services,
  input: { organization: string; name: string; description?: string | undefined },
): Promise<Cluster> {
  const problems = nameProblems(input.name);
  if (problems.length > 0) throw validationFailed(...problems);

  const now = services.clock.now();
  return services.db.transaction(async (tx) => {
    const organization = await requireOrganization(tx, input.organization);
    if (await findClusterByName(tx, organization.id, input.name)) {
      throw validationFailed("Name has already been taken");
    }
    const operator = await requireOperator(tx, organization);
    const cluster: Cluster = {
      id: newId(now),
      organizationId: organization.id,
      name: input.name,
      description: input.description ?? null,
      emoji: null,
      color: null,
      defaultQueueId: null,
      createdAt: now,
      createdById: operator.id,
    };
    await insertCluster(tx, cluster);
    await recordAudit(
      tx,
      {
        organizationId: organization.id,
        actorId: operator.id,
        action: "created",
        subjectType: "cluster",
        subjectId: cluster.id,
        subject: cluster.name,
      },
      now,
    );
    return cluster;
  });
}

export async function requireCluster(db: Db | Tx, organizationId: string, id: string): Promise<Cluster> {
  const cluster = await findCluster(db, organizationId, id);
  if (!cluster) throw notFound("cluster");
  return cluster;
}
