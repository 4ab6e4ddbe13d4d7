import type { Actor } from "../accounts/audit.ts";
import { hashToken, issueToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { lockPipeline, type Pipeline } from "../pipelines/store.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import type { NewTrigger } from "./input.ts";
import { columnsOf, requireValidSettings } from "./settings.ts";
import { hasTriggerId, insertTrigger, listTriggersOfPipeline, type Trigger } from "./store.ts";
import { auditTrigger, deleteIfPresent, publishTriggerChange } from "./triggers.ts";

/** Spec §8. */
export const maxTriggersPerPipeline = 10;

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
export function createTrigger(
  services: Services,
  actor: Actor,
  pipeline: Pipeline,
  input: NewTrigger,
): Promise<CreatedTrigger>;
export function createTrigger(
  services: Services,
  actor: Actor,
  pipeline: Pipeline,
  input: NewTrigger,
  id: string,
): Promise<CreatedTrigger | undefined>;
export async function createTrigger(
  services: Services,
  actor: Actor,
  pipeline: Pipeline,
  input: NewTrigger,
  id?: string,
): Promise<CreatedTrigger | undefined> {
  requireValidSettings(services.config, actor, input, { isNew: true });
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
    addTrigger(tx, { services, actor, pipeline, columns, id }),
  );
  publishTriggerChange(services, created?.trigger);
  return created;
}

/**
 * A copy of a trigger with a new URL, and the end of the old one: the way out when a URL has leaked (spec §4.4).
 * @returns undefined when there is a trigger of that id already
 * @throws Refusal 404
 */
export function replaceTrigger(
  services: Services,
  actor: Actor,
  pipeline: Pipeline,
  of: Trigger,
): Promise<CreatedTrigger>;
export function replaceTrigger(
  services: Services,
  actor: Actor,
  pipeline: Pipeline,
  of: Trigger,
  id: string,
): Promise<CreatedTrigger | undefined>;
export async function replaceTrigger(
  services: Services,
  actor: Actor,
  pipeline: Pipeline,
  of: Trigger,
  id?: string,
): Promise<CreatedTrigger | undefined> {
  const replaced = await services.db.transaction(async (tx) => {
    // Held before anything is looked at: the form may come twice at once, and the second is to see what the first did.
    if (!(await lockPipeline(tx, pipeline.id))) throw notFound("pipeline");
    if (id && (await hasTriggerId(tx, id))) return undefined;
    const old = await deleteIfPresent(tx, { services, actor, id: of.id, action: "replaced" });
    return addTrigger(tx, { services, actor, pipeline, columns: old, id });
  });
  publishTriggerChange(services, of);
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
}

async function addTrigger(tx: Tx, addition: Addition): Promise<CreatedTrigger | undefined> {
  const { services, actor, pipeline, columns, id } = addition;
  if (!(await lockPipeline(tx, pipeline.id))) throw notFound("pipeline");
  if (id && (await hasTriggerId(tx, id))) return undefined;
  if ((await listTriggersOfPipeline(tx, pipeline.id)).length >= maxTriggersPerPipeline)
    throw new Refusal(422, `Pipeline has reached its limit of ${maxTriggersPerPipeline} triggers`);

  const now = services.clock.now();
  const token = issueToken("trigger");
  const trigger: Trigger = {
    ...columns, // of a copy they are more: what follows makes it another trigger
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
  await auditTrigger(tx, actor, trigger, "created", now);
  return { trigger, token };
}
