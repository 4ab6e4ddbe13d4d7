import { and, asc, eq, gt, isNull, or, type Placeholder, type SQL, sql } from "drizzle-orm";
import type { Organization } from "../accounts/organization-store.ts";
import type { Cluster } from "../clusters/store.ts";
import type { Db, Reader, Tx } from "../db/database.ts";
import { countUpTo, listCreated } from "../db/list-page.ts";
import { isOneOf, prepared, preparedRow, valueFor } from "../db/prepared.ts";
import { findRow } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";
import type { Queue } from "../queues/store.ts";

export type AgentToken = Tables["agentTokens"]["$inferSelect"];

export interface TokenWithOwners {
  token: AgentToken;
  organization: Organization;
  cluster: Cluster;
  /** Null: agents may name any queue of the cluster. */
  queue: Queue | null;
}

export async function insertAgentToken(tx: Tx, token: AgentToken): Promise<void> {
  await tx.insert(tx.tables.agentTokens).values(token);
}

/** A token of the cluster that was not revoked. */
export function findAgentToken(db: Db | Tx, clusterId: string, id: string): Promise<AgentToken | undefined> {
  const { agentTokens } = db.tables;
  return findRow(
    db,
    agentTokens,
    and(eq(agentTokens.id, id), eq(agentTokens.clusterId, clusterId), isNull(agentTokens.revokedAt)),
  );
}

/** A token of any cluster that was not revoked. */
export function findAgentTokenById(db: Db, id: string): Promise<AgentToken | undefined> {
  const { agentTokens } = db.tables;
  return findRow(db, agentTokens, and(eq(agentTokens.id, id), isNull(agentTokens.revokedAt)));
}

/** The id of the queue that a token is bound to. A revoked one still binds the agents that it registered. */
export async function findQueueOfToken(db: Db, id: string): Promise<string | undefined> {
  const { agentTokens } = db.tables;
  const [found] = await db
    .select({ queueId: agentTokens.queueId })
    .from(agentTokens)
    .where(eq(agentTokens.id, id));
  return found?.queueId ?? undefined;
}

/** The token with its organization, cluster and queue. Undefined if it is unknown, revoked or expired. */
export const findByTokenHash = preparedRow<{ tokenHash: string; now: Date }, TokenWithOwners, Db>((db) => {
  const { agentTokens, organizations, clusters, queues } = db.tables;
  return db
    .select({ token: agentTokens, organization: organizations, cluster: clusters, queue: queues })
    .from(agentTokens)
    .innerJoin(organizations, eq(organizations.id, agentTokens.organizationId))
    .innerJoin(clusters, eq(clusters.id, agentTokens.clusterId))
    .leftJoin(queues, eq(queues.id, agentTokens.queueId))
    .where(
      and(
        eq(agentTokens.tokenHash, sql.placeholder("tokenHash")),
        isNull(agentTokens.revokedAt),
        or(isNull(agentTokens.expiresAt), gt(agentTokens.expiresAt, valueFor(agentTokens.expiresAt, "now"))),
        isNull(clusters.deletedAt),
      ),
    );
});

/** Stores when tokens registered an agent last. */
export const useAgentTokens = prepared<{ ids: string[]; now: Date }, { id: string }, Tx>((tx) => {
  const { agentTokens } = tx.tables;
  return tx
    .update(agentTokens)
    .set({ lastUsedAt: valueFor(agentTokens.lastUsedAt, "now") })
    .where(and(isOneOf(agentTokens.id, "ids"), isNull(agentTokens.revokedAt)))
    .returning({ id: agentTokens.id });
});

/** Tokens of a cluster that were not revoked, oldest first. */
export const listAgentTokensPage = listCreated<{ clusterId: string }, AgentToken>((db) => ({
  table: db.tables.agentTokens,
  where: isOfCluster(db, sql.placeholder("clusterId")),
}));

/** Counts tokens of a cluster that were not revoked: expired ones are listed too. */
export function countAgentTokens(tx: Tx, clusterId: string, limit: number): Promise<number> {
  return countUpTo(tx, tx.tables.agentTokens, isOfCluster(tx, clusterId), limit);
}

function isOfCluster(
  { tables: { agentTokens } }: Reader | Tx,
  clusterId: string | Placeholder,
): SQL | undefined {
  return and(eq(agentTokens.clusterId, clusterId), isNull(agentTokens.revokedAt));
}

/** All tokens of a cluster that were not revoked, oldest first. */
export async function listAgentTokens(db: Db, clusterId: string): Promise<AgentToken[]> {
  const { agentTokens } = db.tables;
  return db.select().from(agentTokens).where(isOfCluster(db, clusterId)).orderBy(asc(agentTokens.id));
}

export async function updateAgentTokenIfActive(
  tx: Tx,
  id: string,
  change: Partial<AgentToken>,
): Promise<AgentToken | undefined> {
  const { agentTokens } = tx.tables;
  const [updated] = await tx
    .update(agentTokens)
    .set({ revokedAt: null, ...change }) // a change may be empty, which SQL does not allow
    .where(and(eq(agentTokens.id, id), isNull(agentTokens.revokedAt)))
    .returning();
  return updated;
}
