import type { Actor } from "../accounts/audit.ts";
import { requireStorage } from "../accounts/storage.ts";
import { hashToken, issueToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { lockPipeline, type PipelineFacts } from "../pipelines/store.ts";
import { notFound, unprocessable, validationFailed } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import { columnsOf, signatureOf } from "./columns.ts";
import type { NewTrigger, TriggerColumns } from "./members.ts";
import { newTriggerProblems } from "./problems.ts";
import { countTriggers, hasTriggerId, insertTrigger, type Trigger } from "./store.ts";
import { auditTrigger, deleteIfPresent, publishTriggerChange } from "./triggers.ts";
import { findTypeByName, hmacDefaults } from "./types.ts";

export const { triggers: maxTriggersPerPipeline } = stored.triggers.max;

export interface CreatedTrigger {
  trigger: Trigger;
  token: string;
}

/** Undefined if a form came twice: then a trigger has its id. */
type CreatedOnce<Id> = CreatedTrigger | (Id extends string ? undefined : never);

/**
 * @param id of a form that may come twice
 * @throws Refusal 404, 422
 */
export async function createTrigger<Id extends string | undefined = undefined>(
  services: Services,
  actor: Actor,
  pipeline: PipelineFacts,
  input: NewTrigger,
  id?: Id,
): Promise<CreatedOnce<Id>> {
  const { config } = services;
  const problems = newTriggerProblems(config, actor, input);
  const type = findTypeByName(config.issueTracker, input.type);
  if (problems.length > 0 || !type) throw validationFailed(...problems);
  const columns = {
    label: input.label,
    enabled: true,
    buildMessage: null,
    buildCommit: null,
    buildBranch: null,
    environmentSealed: null,
    filter: null,
    secretSealed: null,
    ...columnsOf(services.cipher, input),
    type: type.stored,
    signature: type.isConfigurable ? { ...hmacDefaults, ...signatureOf(input) } : null,
  };
  const created = await services.db.transaction(async (tx) => {
    await requireStorage(tx, config, pipeline.organizationId);
    return addTrigger(services, tx, actor, { pipeline, columns, id });
  });
  publishTriggerChange(services, created?.trigger);
  return created as CreatedOnce<Id>;
}

/**
 * Replaces a trigger whose URL has leaked.
 * @param id of a form that may come twice
 * @throws Refusal 404
 */
export async function replaceTrigger<Id extends string | undefined = undefined>(
  services: Services,
  actor: Actor,
  pipeline: PipelineFacts,
  trigger: Trigger,
  id?: Id,
): Promise<CreatedOnce<Id>> {
  const replaced = await services.db.transaction(async (tx) => {
    // Lock first: of two equal forms, the second must see the first's changes.
    if (!(await lockPipeline(tx, pipeline.id))) throw notFound("pipeline");
    if (id && (await hasTriggerId(tx, id))) return undefined;
    const old = await deleteIfPresent(tx, actor, { id: trigger.id, action: "replaced" });
    return addTrigger(services, tx, actor, { pipeline, columns: old, id });
  });
  publishTriggerChange(services, trigger);
  return replaced as CreatedOnce<Id>;
}

async function addTrigger(
  { config }: Services,
  tx: Tx,
  actor: Actor,
  { pipeline, columns, id }: { pipeline: PipelineFacts; columns: TriggerColumns; id: string | undefined },
): Promise<CreatedTrigger | undefined> {
  if (!(await lockPipeline(tx, pipeline.id))) throw notFound("pipeline");
  if (id && (await hasTriggerId(tx, id))) return undefined;
  const problems = await roomProblems(config, stored.triggers, (max) => countTriggers(tx, pipeline.id, max));
  if (problems.length > 0) throw unprocessable(...problems);

  const { now } = tx;
  const token = issueToken("trigger");
  const trigger: Trigger = {
    ...columns, // the columns of the original; those below replace some of them
    id: id ?? newId(now),
    pipelineId: pipeline.id,
    version: 1,
    tokenHash: hashToken(token),
    tokenHint: token.slice(-2),
    tokenSealed: null,
    isProvider: false,
    refusedBodiesUntil: null,
    createdAt: now,
    createdById: actor.userId,
    updatedAt: now,
    updatedById: actor.userId,
    deletedAt: null,
  };
  await insertTrigger(tx, trigger);
  await auditTrigger(tx, actor, trigger, "created");
  return { trigger, token };
}
