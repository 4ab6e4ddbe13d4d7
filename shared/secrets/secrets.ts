import { type Actor, audit } from "../accounts/audit.ts";
import { changesOf } from "../accounts/audit-changes.ts";
import { requireStorage } from "../accounts/storage.ts";
import { type Cluster, lockCluster } from "../clusters/store.ts";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { auditedColumns } from "../members/rows.ts";
import { notFound, type Problem, validationFailed } from "../refusal.ts";
import { countingChange } from "../retention/records.ts";
import type { Services } from "../services/services.ts";
import type { Config } from "../settings/config.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import { type NewSecret, type SecretChange, secretMembers } from "./members.ts";
import {
  countSecrets,
  deleteSecretIfPresent,
  findSecret,
  findSecretByKey,
  insertSecret,
  type ListedSecret,
  lockSecret,
  type Secret,
  updateSecretIfPresent,
} from "./store.ts";

/**
 * Creates a secret of a cluster. Nobody but jobs can read its value again.
 * @throws Refusal 404, 422
 */
export async function createSecret(
  { db, cipher, config, events }: Services,
  actor: Actor,
  cluster: Cluster,
  { value, ...input }: NewSecret,
): Promise<Secret> {
  const created = await db.transaction(async (tx) => {
    if (!(await lockCluster(tx, cluster.id))) throw notFound("cluster");
    await requireStorage(tx, config, cluster.organizationId);
    const isTaken = (await findSecretByKey(tx, cluster.id, input.key)) !== undefined;
    const problems = [
      ...keyProblems(config, input.key),
      ...(isTaken ? [{ field: "key", message: "Key has already been taken" }] : []),
      ...(await roomProblems(config, stored.secrets, (limit) => countSecrets(tx, cluster.id, limit))),
    ];
    if (problems.length > 0) throw validationFailed(...problems);
    const { now } = tx;
    const id = newId(now);
    const secret: Secret = {
      ...input,
      id,
      organizationId: cluster.organizationId,
      clusterId: cluster.id,
      valueSealed: cipher.seal(value, sealedPlaces.valueOfSecret(id)),
      createdAt: now,
      createdById: actor.userId,
      updatedAt: now,
      updatedById: actor.userId,
      lastReadAt: null,
    };
    await insertSecret(tx, secret);
    await audit(tx, actor, "created", auditSubject(secret));
    return secret;
  });
  events.publish([`cluster:${cluster.id}`]);
  return created;
}

/** Steps name variables after keys: a key must be no name of the server's. */
function keyProblems({ agentEnvPrefix }: Config, key: string): Problem[] {
  const prefixes = [...new Set([agentEnvPrefix, "BUILDKITE", "BK", "SIGNALBOX"])];
  const isReserved = prefixes.some((prefix) => key.toUpperCase().startsWith(prefix));
  return isReserved ? [{ field: "key", message: `Key cannot start with ${prefixes.join(", ")}` }] : [];
}

/** @throws Refusal 404 */
export async function requireSecret(db: Db, cluster: Cluster, id: string): Promise<Secret> {
  const found = isId(id) ? await findSecret(db, cluster.id, id) : undefined;
  if (!found) throw notFound("secret");
  return found;
}

/**
 * Changes the description and the policy. The policy holds for the next read.
 * @throws Refusal 404
 */
export async function updateSecret(
  services: Services,
  actor: Actor,
  { id, clusterId }: ListedSecret,
  change: SecretChange,
): Promise<Secret> {
  const updated = await countChange(services, id, async (tx) => {
    const before = await lockSecret(tx, id);
    const stamp = { updatedAt: tx.now, updatedById: actor.userId };
    const after = before && (await updateSecretIfPresent(tx, id, { ...change, ...stamp }));
    if (!before || !after) throw notFound("secret");
    const changes = changesOf({ before, after, ...auditedColumns<Secret>(secretMembers) });
    await audit(tx, actor, "updated", auditSubject(after), changes);
    return after;
  });
  services.events.publish([`cluster:${clusterId}`]);
  return updated;
}

/** @throws Refusal 404 */
export async function replaceSecretValue(
  services: Services,
  actor: Actor,
  { id, clusterId }: ListedSecret,
  value: string,
): Promise<Secret> {
  const updated = await countChange(services, id, async (tx) => {
    const valueSealed = services.cipher.seal(value, sealedPlaces.valueOfSecret(id));
    const change = { valueSealed, updatedAt: tx.now, updatedById: actor.userId };
    const after = await updateSecretIfPresent(tx, id, change);
    if (!after) throw notFound("secret");
    await audit(tx, actor, "updated", auditSubject(after), [{ field: "value" }]);
    return after;
  });
  services.events.publish([`cluster:${clusterId}`]);
  return updated;
}

/** @throws Refusal 404 */
export async function deleteSecret(
  services: Services,
  actor: Actor,
  { id, clusterId }: ListedSecret,
): Promise<void> {
  await countChange(services, id, async (tx) => {
    const deleted = await deleteSecretIfPresent(tx, id);
    if (!deleted) throw notFound("secret");
    await audit(tx, actor, "deleted", auditSubject(deleted));
  });
  services.events.publish([`cluster:${clusterId}`]);
}

function countChange<Result>(
  services: Services,
  id: string,
  change: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return countingChange(services, { kind: "secrets", ids: [id] }, () => services.db.transaction(change));
}

function auditSubject({ id, key }: Secret) {
  return { type: "secret", id, name: key } as const;
}
