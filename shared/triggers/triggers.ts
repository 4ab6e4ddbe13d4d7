import { type Actor, audit } from "../accounts/audit.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId } from "../ids.ts";
import type { Pipeline } from "../pipelines/store.ts";
import { notFound, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import { type Delivery, findDelivery } from "./deliveries/store.ts";
import type { TriggerChange } from "./input.ts";
import { columnsOf, requireValidSettings } from "./settings.ts";
import { findTrigger, lockTrigger, type Trigger, updateIfPresent } from "./store.ts";

/**
 * Change a trigger; its type stays. Every process knows of it at once.
 * @throws Refusal 404, 422
 */
export async function updateTrigger(
  services: Services,
  actor: Actor,
  of: Trigger,
  change: TriggerChange,
): Promise<Trigger> {
  if (change.type !== undefined && change.type !== of.type) throw validationFailed("Type cannot be changed");
  requireValidSettings(services.config, actor, { ...change, type: of.type }, { isNew: false });
  const { cipher, db, clock } = services;
  const now = clock.now();
  const changed = await db.transaction(async (tx) => {
    const present = await lockTrigger(tx, of.pipelineId, of.id);
    if (!present) throw notFound("pipeline trigger");
    if (change.verification && change.verification.secret === undefined && present.secretSealed === null)
      throw validationFailed("Secret can't be blank");
    const columns = columnsOf(cipher, change);
    const updated = await updateIfPresent(tx, of.id, {
      ...columns,
      updatedAt: now,
      updatedById: actor.userId,
    });
    if (!updated) throw notFound("pipeline trigger");
    await auditTrigger(tx, actor, updated, actionOf(present, updated, columns), now);
    return updated;
  });
  publishTriggerChange(services, changed);
  return changed;
}

/** What the audit log calls a change: `enabled` and `disabled` when it is nothing else. */
function actionOf(before: Trigger, after: Trigger, columns: object): string {
  const isSwitched = before.enabled !== after.enabled && Object.keys(columns).length === 1;
  if (!isSwitched) return "updated";
  return after.enabled ? "enabled" : "disabled";
}

/**
 * Delete a trigger. Its URL answers 404 from now on; deliveries that were accepted before are still built.
 * @throws Refusal 404
 */
export async function deleteTrigger(services: Services, actor: Actor, { id }: Trigger): Promise<Trigger> {
  const deleted = await services.db.transaction((tx) =>
    deleteIfPresent(tx, { services, actor, id, action: "deleted" }),
  );
  publishTriggerChange(services, deleted);
  return deleted;
}

/** Who has it or the list that it is in open looks again. */
export function publishTriggerChange({ events }: Services, trigger: Trigger | undefined): void {
  if (trigger) events.publish([`trigger:${trigger.id}`, `pipeline:${trigger.pipelineId}`]);
}

/** @throws Refusal 404 */
export async function deleteIfPresent(
  tx: Tx,
  of: { services: Services; actor: Actor; id: string; action: string },
): Promise<Trigger> {
  const { services, actor, id, action } = of;
  const now = services.clock.now();
  const deleted = await updateIfPresent(tx, id, {
    deletedAt: now,
    updatedAt: now,
    updatedById: actor.userId,
  });
  if (!deleted) throw notFound("pipeline trigger");
  await auditTrigger(tx, actor, deleted, action, now);
  return deleted;
}

/** @throws Refusal 404 */
export async function requireTrigger(db: Db, pipeline: Pipeline, id: string): Promise<Trigger> {
  const trigger = isId(id) ? await findTrigger(db, pipeline.id, id) : undefined;
  if (!trigger) throw notFound("pipeline trigger");
  return trigger;
}

/** @throws Refusal 404 */
export async function requireDelivery(db: Db, trigger: Trigger, id: string): Promise<Delivery> {
  const delivery = isId(id) ? await findDelivery(db, trigger.id, id) : undefined;
  if (!delivery) throw notFound("delivery");
  return delivery;
}

export function auditTrigger(
  tx: Tx,
  actor: Actor,
  { id, label }: Trigger,
  action: string,
  now: Date,
): Promise<void> {
  return audit(tx, actor, action, { type: "trigger", id, name: label });
}
