import { recordAudit } from "../accounts/audit.ts";
import { requireOperator, requireOrganization } from "../accounts/organizations.ts";
import type { Organization } from "../accounts/store.ts";
import { lockPipeline } from "../builds/pipeline-store.ts";
import { requirePipeline } from "../builds/pipelines.ts";
import type { Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { notFound, validationFailed } from "../refusal.ts";
import type { Services } from "../services.ts";
import { hashToken, issueToken } from "../tokens.ts";
import { type NewTrigger, newTrigger } from "./input.ts";
import {
  findOrganizationOfTrigger,
  insertTrigger,
  listTriggersOfPipeline,
  type Trigger,
  updateIfPresent,
} from "./store.ts";
import { findTriggerType, triggerTypes } from "./types.ts";

/** Spec §8. */
const mostTriggersPerPipeline = 10;

/**
 * A new trigger of a pipeline, made by the operator.
 * @returns the stored trigger and, this once, the token of its URL
 * @throws Refusal 404, 422
 */
export async function createTrigger(
  services: Services,
  at: { organization: string; pipeline: string },
  input: NewTrigger,
): Promise<{ trigger: Trigger; token: string }> {
  const { clock, cipher, db, config } = services;
  const problems = inputProblems(input, config.issueTracker);
  if (problems.length > 0) throw validationFailed(...problems);

  const now = clock.now();
  const token = issueToken("trigger");
  const trigger = await db.transaction(async (tx) => {
    const organization = await requireOrganization(tx, at.organization);
    const pipeline = await requirePipeline(tx, organization.id, at.pipeline);
    await lockPipeline(tx, pipeline);
    if ((await listTriggersOfPipeline(tx, pipeline.id)).length >= mostTriggersPerPipeline) {
      throw validationFailed(`Pipeline has reached its limit of ${mostTriggersPerPipeline} triggers`);
    }

    const operator = await requireOperator(tx, organization);
    const row: Trigger = {
      id: newId(now),
      pipelineId: pipeline.id,
      type: input.type,
      label: input.label,
      enabled: input.enabled,
      version: 1,
      buildMessage: input.message,
      buildCommit: input.commit,
      buildBranch: input.branch,
      environmentSealed:
        Object.keys(input.environment).length > 0 ? cipher.encrypt(JSON.stringify(input.environment)) : null,
      secretSealed: input.secret === null ? null : cipher.encrypt(input.secret),
      tokenHash: hashToken(token),
      tokenHint: token.slice(-2),
      createdAt: now,
      createdById: operator.id,
      updatedAt: now,
      updatedById: operator.id,
      deletedAt: null,
    };
    await insertTrigger(tx, row);
    await auditTrigger(tx, { trigger: row, organization, actorId: operator.id, action: "created", now });
    return row;
  });
  return { trigger, token };
}

/** @throws Refusal 404 */
export function enableTrigger(services: Services, id: string): Promise<Trigger> {
  return changeTrigger(services, id, "enabled", { enabled: true });
}

/** @throws Refusal 404 */
export function disableTrigger(services: Services, id: string): Promise<Trigger> {
  return changeTrigger(services, id, "disabled", { enabled: false });
}

/**
 * Delete a trigger. Its URL answers 404 from now on; deliveries that were accepted before are still built.
 * @throws Refusal 404
 */
export function deleteTrigger(services: Services, id: string): Promise<Trigger> {
  return changeTrigger(services, id, "deleted", { deletedAt: services.clock.now() });
}

async function changeTrigger(
  { db, clock }: Services,
  id: string,
  action: string,
  change: { enabled?: boolean; deletedAt?: Date },
): Promise<Trigger> {
  const now = clock.now();
  return db.transaction(async (tx) => {
    const organization = await findOrganizationOfTrigger(tx, id);
    if (!organization) throw notFound("pipeline trigger");
    const operator = await requireOperator(tx, organization);
    const changed = await updateIfPresent(tx, id, { ...change, updatedAt: now, updatedById: operator.id });
    if (!changed) throw notFound("pipeline trigger");
    await auditTrigger(tx, { trigger: changed, organization, actorId: operator.id, action, now });
    return changed;
  });
}

function inputProblems(input: NewTrigger, issueTracker: string): string[] {
  const type = findTriggerType(issueTracker, input.type);
  if (!type) {
    const names = triggerTypes(issueTracker).map(({ name }) => name);
    return [`Type must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`];
  }
  if (input.secret !== null && !type.signature) return ["Verification is not available for webhook triggers"];
  const parsed = newTrigger.safeParse(input);
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => `${capitalize(path[0])} ${message}`);
}

function capitalize(member: PropertyKey | undefined): string {
  const name = String(member ?? "");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

async function auditTrigger(
  tx: Tx,
  of: { trigger: Trigger; organization: Organization; actorId: string; action: string; now: Date },
): Promise<void> {
  await recordAudit(
    tx,
    {
      organizationId: of.organization.id,
      actorId: of.actorId,
      action: of.action,
      subjectType: "trigger",
      subjectId: of.trigger.id,
      subject: of.trigger.label,
    },
    of.now,
  );
}
