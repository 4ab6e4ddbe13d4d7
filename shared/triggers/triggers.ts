import { type Actor, recordAct } from "../accounts/audit.ts";
import { holdPipeline, type Pipeline } from "../builds/pipeline-store.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { notFound, Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../services.ts";
import { hashToken, issueToken } from "../tokens.ts";
import type { NewTrigger, TriggerChange } from "./input.ts";
import { columnsOf, requireFitting } from "./settings.ts";
import {
  findTrigger,
  hasTriggerId,
  insertTrigger,
  listTriggersOfPipeline,
  type Trigger,
  updateIfPresent,
} from "./store.ts";

/** Spec §8. */
export const mostTriggersPerPipeline = 10;

/** A trigger as it was stored and, this once, the token of its URL. */
export interface CreatedTrigger {
  trigger: Trigger;
  token: string;
}

/**
 * A new trigger of a pipeline.
 * @param id for a form, which may be sent twice: the id that its trigger gets
 * @returns undefined when there is a trigger of that id already
 * @throws Refusal 404, 422
 */
export async function createTrigger(
  services: Services,
  actor: Actor,
  pipeline: Pipeline,
  input: NewTrigger,
  id?: string,
): Promise<CreatedTrigger | undefined> {
  requireFitting(services.config, actor, input);
  const { type, label, enabled, secret, ...rest } = input;
  const columns = {
    type,
    label,
    enabled,
    buildMessage: null,
    buildCommit: null,
    buildBranch: null,
    environmentSealed: null,
    filter: null,
    secretSealed: null,
    ...columnsOf(services.cipher, { ...rest, verification: secret === null ? null : { secret } }),
  };
  const created = await services.db.transaction((tx) =>
    addTrigger(tx, { services, actor, pipeline, columns, id, action: "created" }),
  );
  tell(services, created?.trigger);
  return created;
}

/**
 * A copy of a trigger with a new URL, and the end of the old one: the way out when a URL has leaked (spec §4.4).
 * @returns undefined when there is a trigger of that id already
 * @throws Refusal 404
 */
export async function replaceTrigger(
  services: Services,
  actor: Actor,
  pipeline: Pipeline,
  of: Trigger,
  id?: string,
): Promise<CreatedTrigger | undefined> {
  const replaced = await services.db.transaction(async (tx) => {
    // Held before anything is looked at: the form may come twice at once, and the second is to see what the first did.
    if (!(await holdPipeline(tx, pipeline.id))) throw notFound("pipeline");
    if (id && (await hasTriggerId(tx, id))) return undefined;
    const columns = await deleteIfPresent(tx, { services, actor, id: of.id, action: "replaced" });
    return addTrigger(tx, { services, actor, pipeline, columns, id, action: "created" });
  });
  tell(services, of);
  return replaced;
}

/** What a trigger holds that is not its identity: what a copy has in common with it. */
type Columns = Pick<
  Trigger,
  | "type"
  | "label"
  | "enabled"
  | "buildMessage"
  | "buildCommit"
  | "buildBranch"
  | "environmentSealed"
  | "filter"
  | "secretSealed"
>;

interface Addition {
  services: Services;
  actor: Actor;
  pipeline: Pipeline;
  columns: Columns;
  id: string | undefined;
  action: string;
}

async function addTrigger(tx: Tx, addition: Addition): Promise<CreatedTrigger | undefined> {
  const { services, actor, pipeline, columns, id, action } = addition;
  if (!(await holdPipeline(tx, pipeline.id))) throw notFound("pipeline");
  if (id && (await hasTriggerId(tx, id))) return undefined;
  if ((await listTriggersOfPipeline(tx, pipeline.id)).length >= mostTriggersPerPipeline)
    throw new Refusal(422, `Pipeline has reached its limit of ${mostTriggersPerPipeline} triggers`);

  const now = services.clock.now();
  const token = issueToken("trigger");
  const trigger: Trigger = {
    type: columns.type,
    label: columns.label,
    enabled: columns.enabled,
    buildMessage: columns.buildMessage,
    buildCommit: columns.buildCommit,
    buildBranch: columns.buildBranch,
    environmentSealed: columns.environmentSealed,
    filter: columns.filter,
    secretSealed: columns.secretSealed,
    id: id ?? newId(now),
    pipelineId: pipeline.id,
    version: 1,
    tokenHash: hashToken(token),
    tokenHint: token.slice(-2),
    createdAt: now,
    createdById: actor.userId,
    updatedAt: now,
    updatedById: actor.userId,
    deletedAt: null,
  };
  await insertTrigger(tx, trigger);
  await recordOfTrigger(tx, actor, trigger, action, now);
  return { trigger, token };
}

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
  requireFitting(services.config, actor, { ...change, type: of.type });
  const { cipher, db, clock } = services;
  const now = clock.now();
  const changed = await db.transaction(async (tx) => {
    await tx.hold(tx.tables.triggers, [of.id], "change");
    const present = await findTrigger(tx, of.pipelineId, of.id);
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
    await recordOfTrigger(tx, actor, updated, actionOf(present, updated, columns), now);
    return updated;
  });
  tell(services, changed);
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
  tell(services, deleted);
  return deleted;
}

/** Who has it or the list that it is in open looks again. */
function tell({ events }: Services, trigger: Trigger | undefined): void {
  if (trigger) events.publish([`trigger:${trigger.id}`, `pipeline:${trigger.pipelineId}`]);
}

async function deleteIfPresent(
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
  await recordOfTrigger(tx, actor, deleted, action, now);
  return deleted;
}

/** @throws Refusal 404 */
export async function requireTrigger(db: Db, pipeline: Pipeline, id: string): Promise<Trigger> {
  const trigger = isId(id) ? await findTrigger(db, pipeline.id, id) : undefined;
  if (!trigger) throw notFound("pipeline trigger");
  return trigger;
}

function recordOfTrigger(
  tx: Tx,
  actor: Actor,
  { id, label }: Trigger,
  action: string,
  now: Date,
): Promise<void> {
  return recordAct(tx, actor, { action, subjectType: "trigger", subjectId: id, subject: label }, now);
}
