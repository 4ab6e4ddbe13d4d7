import { and, eq, gt, isNull, or, sql } from "drizzle-orm";
import type { Organization } from "../accounts/organization-store.ts";
import type { Cluster } from "../clusters/store.ts";
import type { Db, Tx } from "../db/database.ts";
import { isOneOf, prepared, preparedRow, valueFor } from "../db/prepared.ts";
import { findRow, ownedRows } from "../db/rows.ts";
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

/** Expired tokens are listed and counted too. */
export const {
  find: findAgentToken,
  listAll: listAgentTokens,
  listPage: listAgentTokensPage,
  count: countAgentTokens,
  insert: insertAgentToken,
  updateIfPresent: updateAgentTokenIfActive,
} = ownedRows<AgentToken>(({ agentTokens }) => agentTokens, { owner: "clusterId", ended: "revokedAt" });

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
