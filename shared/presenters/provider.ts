import { z } from "zod";
import { connectedProviders } from "../connections/connected.ts";
import { shownProvider } from "../pipelines/provider/provider.ts";
import { webhookUrlOf } from "../pipelines/provider/webhook.ts";
import { listWebhooks } from "../pipelines/provider/webhook-store.ts";
import type { Pipeline } from "../pipelines/store.ts";
import type { Services } from "../services/services.ts";
import { type ProviderId, providerIds } from "../sources/providers.ts";
import { declaredSettings } from "../sources/settings.ts";

const declared = Object.entries(declaredSettings).map(([name, { default: value, about, ...rest }]) => {
  const schema = typeof value === "boolean" ? z.boolean() : z.string().nullable();
  const description = "missing" in rest ? `${rest.missing}: always false` : about;
  return [name, schema.optional().meta({ description })] as const;
});

const settingsSchema = z
  .object({
    trigger_mode: z
      .enum(["code", "none"])
      .optional()
      .meta({ description: "code: pushes and pull requests make builds. none: nothing does" }),
    ...Object.fromEntries(declared),
    repository: z.string().optional().meta({ description: "The path of the repository at its host" }),
  })
  .meta({ description: "Those that the provider has. Empty for private" });

export const webhookAddress = {
  webhook_url: z.string().meta({
    description:
      "The source host posts events here. Empty for tokens without the scope write_pipelines, in builds, and while there is none",
  }),
  secret: z
    .string()
    .nullable()
    .meta({ description: "The source host signs what it posts with it. Null: requests are not verified" }),
};

/** The member `provider` of a pipeline. */
export const providerSchema = z
  .object({
    id: z.enum([...providerIds, "private"]).meta({ description: "private: a host that is not known" }),
    webhook_url: webhookAddress.webhook_url,
    secret: webhookAddress.secret
      .optional()
      .meta({ description: "In the answer to the pipeline's creation only" }),
    settings: settingsSchema,
  })
  .meta({ id: "PipelineProvider" });

/** The facts by which answers show the providers of pipelines. */
export interface ShownProviders {
  connected: ReadonlyMap<string, ProviderId>;
  /** By pipeline. Others are not shown. */
  webhookUrls: ReadonlyMap<string, string>;
}

/** @param ids of the pipelines whose addresses are shown */
export async function loadProviders(
  services: Services,
  organizationId: string,
  ids: string[],
): Promise<ShownProviders> {
  const connected = await connectedProviders(services, organizationId);
  const webhooks = ids.length === 0 ? [] : await listWebhooks(services.db, { ids });
  const webhookUrls = new Map(webhooks.map((each) => [each.pipelineId, webhookUrlOf(services, each)]));
  return { connected, webhookUrls };
}

export function presentProvider(
  { connected, webhookUrls }: ShownProviders,
  pipeline: Pick<Pipeline, "id" | "repository" | "providerSettings">,
) {
  const { id, settings } = shownProvider(pipeline, connected);
  return { id, webhook_url: webhookUrls.get(pipeline.id) ?? "", settings };
}
