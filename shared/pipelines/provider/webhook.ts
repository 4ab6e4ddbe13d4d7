import { type Actor, audit } from "../../accounts/audit.ts";
import { sealedPlaces } from "../../crypto/sealed-places.ts";
import { hashToken, issueToken } from "../../crypto/tokens.ts";
import type { Tx } from "../../db/database.ts";
import { newId } from "../../ids.ts";
import { notFound } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { endpointUrl } from "../../settings/urls.ts";
import { hostOf, type ProviderId, providers } from "../../sources/providers.ts";
import { lockPipeline, type Pipeline } from "../store.ts";
import { providerIn } from "./provider.ts";
import { changeWebhook, findWebhook, insertWebhook, type Webhook } from "./webhook-store.ts";

// The webhook of a pipeline's provider. It is made with the pipeline, and follows its repository: at another host it gets
// another address and secret, since the former host knows the present ones.

/** Release 1.0.0 takes a webhook for a trigger. By this filter it builds nothing of a push; else it built the default branch. */
const filterOfFormerVersion = "false";

type Sealing = Pick<Services, "cipher">;
type Owner = Pick<Pipeline, "id" | "organizationId" | "repository">;

/** The two that its source host has to know. */
export interface OpenedWebhook {
  webhookUrl: string;
  /** Null: requests are not verified. */
  secret: string | null;
}

/**
 * Gives a pipeline the webhook of its repository's provider, and takes away that of another one. Call it with the
 * pipeline locked.
 * @param former the repository before a change
 */
export async function followProvider(
  tx: Tx,
  services: Sealing,
  pipeline: Owner,
  { userId, former }: { userId: string; former?: string | null },
): Promise<Webhook | undefined> {
  const provider = await providerIn(tx, pipeline);
  const present = await findWebhook(tx, { pipelineId: pipeline.id });
  const isMoved = former !== undefined && hostIn(former) !== hostIn(pipeline.repository);
  if (present && !isMoved && present.type === (provider && providers[provider].triggerType)) return present;
  const stamp = { updatedAt: tx.now, updatedById: userId };
  if (present) await changeWebhook(tx, present.id, { deletedAt: tx.now, ...stamp });
  return provider === null ? undefined : addWebhook(tx, services, { pipeline, provider, userId });
}

function hostIn(repository: string | null): string | undefined {
  return repository === null ? undefined : hostOf(repository);
}

/** Gives a pipeline without a webhook that of a provider. */
export async function addWebhook(
  tx: Tx,
  services: Sealing,
  { pipeline, provider, userId }: { pipeline: Pick<Pipeline, "id">; provider: ProviderId; userId: string },
): Promise<Webhook> {
  const { now } = tx;
  const id = newId(now);
  const { title, triggerType } = providers[provider];
  const webhook: Webhook = {
    ...newKeys(services, id),
    id,
    pipelineId: pipeline.id,
    type: triggerType,
    label: title,
    enabled: true,
    version: 1,
    isProvider: true,
    buildMessage: null,
    buildCommit: null,
    buildBranch: null,
    environmentSealed: null,
    filter: filterOfFormerVersion,
    signature: null,
    refusedBodiesUntil: null,
    createdAt: now,
    createdById: userId,
    // Of a webhook these say when it was switched on or off, and by whom.
    updatedAt: now,
    updatedById: userId,
    deletedAt: null,
  };
  await insertWebhook(tx, webhook);
  return webhook;
}

function newKeys({ cipher }: Sealing, id: string) {
  const token = issueToken("webhook");
  return {
    tokenHash: hashToken(token),
    tokenHint: token.slice(-2),
    tokenSealed: cipher.seal(token, sealedPlaces.tokenOfTrigger(id)),
    secretSealed: cipher.seal(issueToken("webhookSecret"), sealedPlaces.secretsOfTriggers),
  };
}

/** @throws Error when no key opens them */
export function openWebhook(services: Pick<Services, "cipher" | "config">, webhook: Webhook): OpenedWebhook {
  const { secretSealed } = webhook;
  const secret =
    secretSealed === null ? null : services.cipher.open(secretSealed, sealedPlaces.secretsOfTriggers);
  return { webhookUrl: webhookUrlOf(services, webhook), secret };
}

/** Empty while it is not known: the operator discarded it with a lost SECRET_KEY. */
export function webhookUrlOf(
  { cipher, config }: Pick<Services, "cipher" | "config">,
  { id, tokenSealed }: Pick<Webhook, "id" | "tokenSealed">,
): string {
  if (tokenSealed === null) return "";
  return endpointUrl(config, cipher.open(tokenSealed, sealedPlaces.tokenOfTrigger(id)));
}

/** The webhook of a pipeline, which is made now if a version without webhooks made the pipeline. @throws Refusal 404 */
export function requireWebhook(
  services: Services,
  actor: Actor,
  pipeline: Pick<Pipeline, "id">,
): Promise<Webhook> {
  return changeOf(services, actor, pipeline, () => undefined);
}

/**
 * Replaces address and secret: the former address is 404 at once.
 * @throws Refusal 404
 */
export async function rotateWebhook(
  services: Services,
  actor: Actor,
  pipeline: Pick<Pipeline, "id">,
): Promise<OpenedWebhook> {
  const rotate = ({ id, tokenSealed }: Webhook) => {
    // One whose keys were lost was disabled with them.
    const change = { ...newKeys(services, id), ...(tokenSealed === null && { enabled: true }) };
    return { action: "rotated", change };
  };
  return openWebhook(services, await changeOf(services, actor, pipeline, rotate));
}

/**
 * @param secret null: requests are no longer verified
 * @throws Refusal 404
 */
export async function setWebhookSecret(
  services: Services,
  actor: Actor,
  pipeline: Pick<Pipeline, "id">,
  secret: string | null,
): Promise<void> {
  const secretSealed = secret === null ? null : services.cipher.seal(secret, sealedPlaces.secretsOfTriggers);
  const action = secret === null ? "removed the secret of" : "changed the secret of";
  await changeOf(services, actor, pipeline, () => ({ action, change: { secretSealed } }));
}

/** Lets requests in, or refuses them with 403. @throws Refusal 404 */
export function switchWebhook(
  services: Services,
  actor: Actor,
  pipeline: Pick<Pipeline, "id">,
  enabled: boolean,
): Promise<Webhook> {
  const action = enabled ? "enabled" : "disabled";
  return changeOf(services, actor, pipeline, (webhook, tx) =>
    webhook.enabled === enabled
      ? undefined
      : { action, change: { enabled, updatedAt: tx.now, updatedById: actor.userId } },
  );
}

type Changing = (webhook: Webhook, tx: Tx) => { action: string; change: Partial<Webhook> } | undefined;

async function changeOf(
  services: Services,
  actor: Actor,
  { id }: Pick<Pipeline, "id">,
  decide: Changing,
): Promise<Webhook> {
  const changed = await services.db.transaction(async (tx) => {
    const pipeline = await lockPipeline(tx, id);
    if (!pipeline) throw notFound("pipeline");
    const webhook = await followProvider(tx, services, pipeline, { userId: actor.userId });
    if (!webhook) throw notFound("provider");
    const { action, change } = decide(webhook, tx) ?? {};
    if (!action || !change) return webhook;
    await audit(tx, actor, `${action} the provider's webhook of`, {
      type: "pipeline",
      id,
      name: pipeline.slug,
    });
    return (await changeWebhook(tx, webhook.id, change)) ?? webhook;
  });
  services.events.publish([`pipeline:${id}`]);
  return changed;
}
