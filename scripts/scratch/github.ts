import type { Actor } from "../../shared/accounts/audit.ts";
import { updatePipeline } from "../../shared/pipelines/pipelines.ts";
import { openWebhook } from "../../shared/pipelines/provider/webhook.ts";
import { findWebhook } from "../../shared/pipelines/provider/webhook-store.ts";
import type { Pipeline } from "../../shared/pipelines/store.ts";
import type { Services } from "../../shared/services/services.ts";
import { signedHeaders } from "../../shared/triggers/signatures.ts";
import { triggerTypes } from "../../shared/triggers/types.ts";

// Requests as GitHub sends them.

/** An address of a pipeline for events, and what signs them. Plain data: it travels to other processes. */
export interface Door {
  pipelineId: string;
  triggerId: string;
  url: string;
  secret: string;
}

/** Gives a pipeline a repository at a source host. @returns the webhook that it has from now on */
export async function addRepository(
  services: Services,
  operator: Actor,
  pipeline: Pick<Pipeline, "id">,
  repository = "https://github.com/lighthouse/harbour.git",
): Promise<Door> {
  await updatePipeline(services, operator, pipeline, { repository });
  const webhook = await findWebhook(services.db, { pipelineId: pipeline.id });
  if (!webhook) throw new Error("The pipeline has no webhook.");
  const { webhookUrl: url, secret } = openWebhook(services, webhook);
  return { pipelineId: pipeline.id, triggerId: webhook.id, url, secret: secret ?? "" };
}

/** The headers of an event. */
export function githubHeaders(event: string, secret: string, body: string): Record<string, string> {
  const [signature] = triggerTypes("").find(({ stored }) => stored === "github")?.signatures ?? [];
  const signed = { secret, body: Buffer.from(body), now: new Date() };
  return { "X-GitHub-Event": event, ...(signature && signedHeaders(signature, signed, new Map())) };
}
