import { type Actor, audit } from "../accounts/audit.ts";
import { changesOf } from "../accounts/audit-changes.ts";
import { type Cluster, lockCluster } from "../clusters/store.ts";
import { hashToken, issueToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { auditedColumns } from "../members/rows.ts";
import { findQueue } from "../queues/store.ts";
import { notFound, validationFailed } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import { type AgentTokenChange, agentTokenMembers, type NewAgentToken } from "./members.ts";
import {
  type AgentToken,
  countAgentTokens,
  findAgentToken,
  findByTokenHash,
  insertAgentToken,
  type TokenWithOwners,
  updateAgentTokenIfActive,
} from "./token-store.ts";

/** The rights of a registration token. */
export type Registrar = TokenWithOwners;

/**
 * Creates a token that registers agents in a cluster. Show it once: only its hash is stored.
 * @throws Refusal 404, 422
 */
export async function createAgentToken(
  { db, config }: Services,
  actor: Actor,
  cluster: Cluster,
  input: NewAgentToken,
): Promise<{ agentToken: AgentToken; token: string }> {
  const token = issueToken("agentRegistration");
  const agentToken = await db.transaction(async (tx) => {
    if (!(await lockCluster(tx, cluster.id))) throw notFound("cluster");
    await requireQueueOfCluster(tx, cluster, input.queueId);
    const { now } = tx;
    if (input.expiresAt && input.expiresAt <= now)
      throw validationFailed({ field: "expires_at", message: "Expiry must be in the future" });
    const countUpTo = (limit: number) => countAgentTokens(tx, cluster.id, limit);
    const full = await roomProblems(config, stored.registrationTokens, countUpTo);
    if (full.length > 0) throw validationFailed(...full);
    const created: AgentToken = {
      ...input,
      id: newId(now),
      organizationId: cluster.organizationId,
      clusterId: cluster.id,
      tokenHash: hashToken(token),
      createdAt: now,
      createdById: actor.userId,
      lastUsedAt: null,
      revokedAt: null,
    };
    await insertAgentToken(tx, created);
    await audit(tx, actor, "created", auditSubject(created));
    return created;
  });
  return { agentToken, token };
}

async function requireQueueOfCluster(tx: Tx, cluster: Cluster, queueId: string | null): Promise<void> {
  if (queueId === null) return;
  const queue = isId(queueId) ? await findQueue(tx, cluster.id, queueId) : undefined;
  if (!queue) throw validationFailed({ field: "queue", message: "Queue must be a queue of the cluster" });
}

/** @throws Refusal 404 */
export async function requireAgentToken({ db }: Services, cluster: Cluster, id: string): Promise<AgentToken> {
  const found = isId(id) ? await findAgentToken(db, cluster.id, id) : undefined;
  if (!found) throw notFound("cluster token");
  return found;
}

/** @throws Refusal 404 */
export async function updateAgentToken(
  { db }: Services,
  actor: Actor,
  { id, clusterId }: AgentToken,
  change: AgentTokenChange,
): Promise<AgentToken> {
  return db.transaction(async (tx) => {
    const before = await findAgentToken(tx, clusterId, id);
    const updated = await updateAgentTokenIfActive(tx, id, change);
    if (!before || !updated) throw notFound("cluster token");
    const changes = changesOf({ before, after: updated, ...auditedColumns<AgentToken>(agentTokenMembers) });
    await audit(tx, actor, "updated", auditSubject(updated), changes);
    return updated;
  });
}

/**
 * Ends registering with a token. Agents that it has registered go on.
 * @throws Refusal 404
 */
export async function revokeAgentToken({ db }: Services, actor: Actor, { id }: AgentToken): Promise<void> {
  await db.transaction(async (tx) => {
    const revoked = await updateAgentTokenIfActive(tx, id, { revokedAt: tx.now });
    if (!revoked) throw notFound("cluster token");
    await audit(tx, actor, "revoked", auditSubject(revoked));
  });
}

/** Undefined for anything but a valid registration token. */
export async function findRegistrar({ db, clock }: Services, token: string): Promise<Registrar | undefined> {
  if (!isWellFormedToken("agentRegistration", token)) return undefined;
  return findByTokenHash(db, { tokenHash: hashToken(token), now: clock.now() });
}

function auditSubject({ id, description }: AgentToken) {
  return { type: "agent_token", id, name: description } as const;
}
