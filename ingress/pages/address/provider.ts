import { connectedProviders } from "../../../shared/connections/connected.ts";
import { type PatternWith, patterns } from "../../../shared/paths.ts";
import { findWebhook } from "../../../shared/pipelines/provider/webhook-store.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type ProviderId, providerOf } from "../../../shared/sources/providers.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import { loadPipeline, pipelinePath } from "./pipeline.ts";
import { type LoadedTrigger, loadTrigger } from "./trigger.ts";

export interface LoadedProvider {
  pipeline: PipelineFacts;
  /** Null: the repository's host is not known, or there is no repository. */
  provider: ProviderId | null;
}

/** The provider of a pipeline. @throws Refusal 404 */
export async function loadProvider(services: Services, request: MemberRequest): Promise<LoadedProvider> {
  const pipeline = await loadPipeline(services, request);
  addProviderCrumb(request);
  const connected = await connectedProviders(services, request.organization.id);
  return { pipeline, provider: providerOf(pipeline.repository, connected) };
}

/** The trigger of an address, or the webhook of the pipeline's provider. @throws Refusal 404 */
export async function loadReceiver(services: Services, request: MemberRequest): Promise<LoadedTrigger> {
  const pipeline = await loadPipeline(services, request);
  const webhook = await findWebhook(services.db, { pipelineId: pipeline.id });
  if (webhook?.id !== request.parameter("trigger")) return loadTrigger(services, request);
  addProviderCrumb(request);
  return { pipeline, trigger: webhook };
}

function addProviderCrumb(request: MemberRequest): void {
  addCrumbs(request.event, { text: "Provider", path: providerPath(request) });
}

/** The provider's page, or one below it. */
export function providerPath(
  request: Pick<MemberRequest, "organization" | "parameter">,
  pattern: PatternWith<"org" | "slug"> = patterns.providerPage,
): string {
  return pipelinePath(request, pattern);
}
