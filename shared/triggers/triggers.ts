import { type Actor, audit } from "../accounts/audit.ts";
import { changesOf } from "../accounts/audit-changes.ts";
import type { Cipher } from "../crypto/cipher.ts";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId } from "../ids.ts";
import { differenceOfNames } from "../members/difference.ts";
import { auditedColumns } from "../members/rows.ts";
import { openEnvironmentIfPossible } from "../pipelines/environment.ts";
import type { PipelineFacts } from "../pipelines/store.ts";
import { notFound, validationFailed } from "../refusal.ts";
import { countingChange } from "../retention/records.ts";
import type { Services } from "../services/services.ts";
import type { AuditChange } from "../vocabulary.ts";
import { columnsOf } from "./columns.ts";
import { type Delivery, findDelivery } from "./deliveries/store.ts";
import { type TriggerChange, triggerMembers } from "./members.ts";
import { triggerChangeProblems } from "./problems.ts";
import { findTrigger, lockTrigger, type Trigger, updateIfPresent } from "./store.ts";

const audited = auditedColumns<Trigger>(triggerMembers);

/**
 * Changes a trigger, but not its type.
 * @param requireFit throws if the locked trigger is not one that the change is meant for
 * @throws Refusal 404, 422
 */
export async function updateTrigger(
  services: Services,
  actor: Actor,
  trigger: Trigger,
  change: TriggerChange,
  requireFit?: (present: Trigger) => void,
): Promise<Trigger> {
  const { id, pipelineId } = trigger;
  const { cipher, config, db } = services;
  const update = async (tx: Tx) => {
    const present = await lockTrigger(tx, pipelineId, id);
    if (!present) throw notFound("pipeline trigger");
    requireFit?.(present);
    const problems = triggerChangeProblems(config, actor, present, change);
    if (problems.length > 0) throw validationFailed(...problems);
    const columns = columnsOf(cipher, change, present);
    const stamp = { updatedAt: tx.now, updatedById: actor.userId };
    const updated = await updateIfPresent(tx, id, { ...columns, ...stamp });
    if (!updated) throw notFound("pipeline trigger");
    const changes = changesOf({ before: present, after: updated, ...audited }).map((change) =>
      change.field === "environment" ? { ...change, ...changedNames(cipher, present, updated) } : change,
    );
    await auditTrigger(tx, actor, updated, updateAction(present, updated, columns), changes);
    return updated;
  };
  const changed = await countingChange(services, { kind: "triggers", ids: [id] }, () =>
    db.transaction(update),
  );
  publishTriggerChange(services, changed);
  return changed;
}

function changedNames(cipher: Cipher, ...both: [before: Trigger, after: Trigger]): Partial<AuditChange> {
  const [before = {}, after = {}] = both.map(({ environmentSealed }) =>
    openEnvironmentIfPossible(cipher, environmentSealed, sealedPlaces.variablesOfBuilds),
  );
  const difference = differenceOfNames(before, after);
  return difference === undefined ? {} : { difference };
}

function updateAction(before: Trigger, after: Trigger, columns: object): string {
  const isSwitched = before.enabled !== after.enabled && Object.keys(columns).length === 1;
  if (!isSwitched) return "updated";
  return after.enabled ? "enabled" : "disabled";
}

/**
 * Deletes a trigger. Accepted deliveries are still built.
 * @throws Refusal 404
 */
export async function deleteTrigger(services: Services, actor: Actor, { id }: Trigger): Promise<Trigger> {
  const deleted = await services.db.transaction((tx) =>
    deleteIfPresent(tx, actor, { id, action: "deleted" }),
  );
  publishTriggerChange(services, deleted);
  return deleted;
}

/** Reloads open pages. */
export function publishTriggerChange({ events }: Services, trigger: Trigger | undefined): void {
  if (trigger) events.publish([`trigger:${trigger.id}`, `pipeline:${trigger.pipelineId}`]);
}

/** @throws Refusal 404 */
export async function deleteIfPresent(
  tx: Tx,
  actor: Actor,
  { id, action }: { id: string; action: "deleted" | "replaced" },
): Promise<Trigger> {
  const { now } = tx;
  const stamp = { updatedAt: now, updatedById: actor.userId };
  const deleted = await updateIfPresent(tx, id, { deletedAt: now, ...stamp });
  if (!deleted) throw notFound("pipeline trigger");
  await auditTrigger(tx, actor, deleted, action);
  return deleted;
}

/** @throws Refusal 404 */
export async function requireTrigger(db: Db, pipeline: PipelineFacts, id: string): Promise<Trigger> {
  const trigger = isId(id) ? await findTrigger(db, { pipelineId: pipeline.id, id }) : undefined;
  if (!trigger) throw notFound("pipeline trigger");
  return trigger;
}

/** @throws Refusal 404 */
export async function requireDelivery(db: Db, trigger: Trigger, id: string): Promise<Delivery> {
  const delivery = isId(id) ? await findDelivery(db, trigger.id, id) : undefined;
  if (!delivery) throw notFound("delivery");
  return delivery;
}

/** @param action past tense, as in `audit` */
export function auditTrigger(
  tx: Tx,
  actor: Actor,
  { id, label }: Trigger,
  action: string,
  changes: AuditChange[] = [],
): Promise<void> {
  return audit(tx, actor, action, { type: "trigger", id, name: label }, changes);
}
