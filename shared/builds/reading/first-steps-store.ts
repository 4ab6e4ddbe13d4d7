import { and, asc, eq, isNull, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Db } from "../../db/database.ts";
import { preparedRow } from "../../db/prepared.ts";

export type FirstSteps = Awaited<ReturnType<typeof selectFirstSteps>>[number];

/** Says which steps towards a first build that passes an organization has done. Each is read by an index. */
export const findFirstSteps = preparedRow<{ organizationId: string }, FirstSteps, Db>(selectFirstSteps);

function selectFirstSteps(db: Db) {
  const { organizations, agents, agentTokens, builds, clusters, grants, payloads, pipelines } = db.tables;
  const { id } = organizations;
  const isPresent = and(eq(pipelines.organizationId, id), isNull(pipelines.deletedAt));
  return db
    .select({
      token: isFound(
        db
          .select({ id: agentTokens.id })
          .from(clusters)
          .crossJoin(agentTokens)
          .where(
            and(
              eq(clusters.organizationId, id),
              isNull(clusters.deletedAt),
              eq(agentTokens.clusterId, clusters.id),
              isNull(agentTokens.revokedAt),
            ),
          )
          .limit(1),
      ),
      agent: isFound(db.select({ id: agents.id }).from(agents).where(eq(agents.organizationId, id)).limit(1)),
      pipeline: isFound(db.select({ id: pipelines.id }).from(pipelines).where(isPresent).limit(1)),
      delivery: isFound(
        db.select({ id: payloads.deliveryId }).from(payloads).where(eq(payloads.organizationId, id)).limit(1),
      ),
      /** The end of the first build that passed. */
      passedAt: sql<Date | null>`(${db
        .select({ finishedAt: builds.finishedAt })
        .from(builds)
        .where(and(eq(builds.organizationId, id), eq(builds.state, "passed")))
        .orderBy(asc(builds.id))
        .limit(1)})`.mapWith(builds.finishedAt),
      device: isFound(
        db.select({ id: grants.id }).from(grants).where(eq(grants.organizationId, id)).limit(1),
      ),
    })
    .from(organizations)
    .where(eq(id, sql.placeholder("organizationId")));
}

function isFound(first: SQLWrapper): SQL<boolean> {
  return sql<boolean>`(${first}) is not null`.mapWith(Boolean);
}
