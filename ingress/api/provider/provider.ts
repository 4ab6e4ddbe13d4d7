import { z } from "zod";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { connectedProviders } from "../../../shared/connections/connected.ts";
import { patterns } from "../../../shared/paths.ts";
import { createWebhookAtHost } from "../../../shared/pipelines/provider/create-at-host.ts";
import { shownProvider } from "../../../shared/pipelines/provider/provider.ts";
import {
  rotateWebhook,
  setWebhookSecret,
  switchWebhook,
} from "../../../shared/pipelines/provider/webhook.ts";
import { findWebhook, type Webhook } from "../../../shared/pipelines/provider/webhook-store.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { webhookAddress } from "../../../shared/presenters/provider.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { api } from "../../../shared/settings/urls.ts";
import { isShortStandardSecret } from "../../../shared/triggers/signatures.ts";
import { requiredText } from "../../../shared/validation.ts";
import { type Call, type Operation, operation } from "../../operations/operation.ts";
import { deliveryOperationsOf } from "../deliveries.ts";
import { pipelineOf } from "../pipelines.ts";

const tag = "Pipelines";
const reading = { tag, scope: "read_pipelines" as const };
const writing = { tag, scope: "write_pipelines" as const };

const minSecretLength = 16;
const shortSecret = "Secret is too short: after whsec_ it must be the Base64 of 16 bytes or more";
const secretBody = z.object({
  secret: requiredText("Secret", 1000)
    .min(minSecretLength, `Secret is too short (minimum is ${minSecretLength} characters)`)
    .refine((secret) => !isShortStandardSecret(secret), shortSecret)
    .nullable()
    .meta({
      description: "Null: requests are not verified. Anybody who learns the address can then make builds",
    }),
});

const githubWebhooks = z
  .object({
    url: field.url,
    enabled: z.boolean(),
    disabled_at: field.timestamp.nullable(),
    disabled_by: z.string().nullable().meta({ description: "The name of a user" }),
  })
  .meta({ id: "GithubWebhooks" });

/** The webhook of a pipeline's provider. */
export function providerOperations(services: Services): Operation[] {
  const { db } = services;

  const webhookOf = async (call: Pick<Call<unknown>, "caller" | "parameter">) => {
    const pipeline = await pipelineOf(services, call);
    const trigger = await findWebhook(db, { pipelineId: pipeline.id });
    if (!trigger) throw notFound("provider");
    return { pipeline, trigger };
  };
  const switchTo = (isEnabled: boolean) => async (call: Call<unknown>) => {
    const pipeline = await githubPipelineOf(services, call);
    const webhook = await switchWebhook(services, call.actor, pipeline, isEnabled);
    return presentSwitch(services, call, pipeline, webhook);
  };

  return [
    operation({
      ...writing,
      methods: ["PUT"],
      path: patterns.providerSecret,
      id: "setProviderSecret",
      summary: "Replace the secret that the source host signs webhooks with",
      body: { schema: secretBody },
      success: { status: 204, description: "Requests are verified with this secret" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const { secret } = await call.readBody();
        await setWebhookSecret(services, call.actor, pipeline, secret);
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.rotateProvider,
      id: "rotateProvider",
      summary:
        "Replace the address and the secret of the provider's webhook; the former address is 404 at once",
      success: { status: 200, schema: z.object(webhookAddress), description: "The new ones" },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const { webhookUrl, secret } = await rotateWebhook(services, call.actor, pipeline);
        return { webhook_url: webhookUrl, secret };
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.createWebhook,
      id: "createWebhook",
      summary: "Make the webhook at the source host, by the token of its repository connection",
      success: {
        status: 201,
        schema: z.object({ webhook_url: webhookAddress.webhook_url }),
        description: "The host has the webhook",
      },
      refusals: {
        422: [
          "Auto-creating webhooks is not supported for your repository.",
          "Webhooks could not be created for your repository.",
        ],
      },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const { webhookUrl } = await createWebhookAtHost(services, call.actor, pipeline);
        return { webhook_url: webhookUrl };
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.githubWebhooks,
      id: "getGithubWebhooks",
      summary: "Whether the pipeline takes webhooks of GitHub",
      success: { status: 200, schema: githubWebhooks, description: "Their state" },
      run: async (call) => {
        const pipeline = await githubPipelineOf(services, call);
        return presentSwitch(services, call, pipeline, await findWebhook(db, { pipelineId: pipeline.id }));
      },
    }),
    operation({
      ...writing,
      methods: ["PUT"],
      path: patterns.githubWebhooks,
      id: "enableGithubWebhooks",
      summary: "Take webhooks of GitHub",
      success: { status: 200, schema: githubWebhooks, description: "Their state" },
      run: switchTo(true),
    }),
    operation({
      ...writing,
      methods: ["DELETE"],
      path: patterns.githubWebhooks,
      id: "disableGithubWebhooks",
      summary: "Refuse webhooks of GitHub with 403",
      success: { status: 200, schema: githubWebhooks, description: "Their state" },
      run: switchTo(false),
    }),
    ...deliveryOperationsOf(services, {
      tag,
      paths: {
        list: patterns.providerDeliveries,
        one: patterns.providerDelivery,
        request: patterns.providerDeliveryRequest,
        rebuild: patterns.rebuildProviderDelivery,
      },
      ids: {
        list: "listProviderDeliveries",
        one: "getProviderDelivery",
        request: "getProviderDeliveryRequest",
        rebuild: "rebuildProviderDelivery",
      },
      summaries: {
        list: "The deliveries of the provider's webhook, newest first",
        rebuild: "Build a delivery of the provider again",
      },
      ownerOf: webhookOf,
      urlOf: (config, address, _trigger, delivery) => api.providerDelivery(config, address, delivery),
    }),
  ];
}

/** @throws Refusal 404 for repositories elsewhere */
async function githubPipelineOf(
  services: Services,
  call: Pick<Call<unknown>, "caller" | "parameter">,
): Promise<PipelineFacts> {
  const pipeline = await pipelineOf(services, call);
  const { id } = shownProvider(pipeline, await connectedProviders(services, pipeline.organizationId));
  if (id !== "github" && id !== "github_enterprise") throw notFound("provider of GitHub");
  return pipeline;
}

/** @param webhook undefined: none is made yet, and the one to come is enabled */
async function presentSwitch(
  { db, config }: Services,
  { caller }: Pick<Call<unknown>, "caller">,
  { slug }: PipelineFacts,
  webhook: Webhook | undefined,
) {
  const url = api.githubWebhooks(config, { org: caller.organization.slug, slug });
  if (!webhook || webhook.enabled) return { url, enabled: true, disabled_at: null, disabled_by: null };
  const { updatedAt, updatedById } = webhook;
  const users = await listUsersById(db, [updatedById]);
  return { url, enabled: false, disabled_at: updatedAt, disabled_by: users.get(updatedById)?.name ?? null };
}
