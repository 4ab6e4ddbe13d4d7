import { connectedProviders } from "../../../shared/connections/connected.ts";
import { type PatternWith, patterns } from "../../../shared/paths.ts";
import { findWebhook } from "../../../shared/pipelines/provider/webhook-store.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type ProviderId, providerOf, providers } from "../../../shared/sources/providers.ts";
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
  const connected = await connectedProviders(services, request.organization.id);
  const provider = providerOf(pipeline.repository, connected);
  addHostCrumb(request, provider === null ? "Source host" : providers[provider].title);
  return { pipeline, provider };
}

/** The trigger of an address, or the webhook of the pipeline's provider. @throws Refusal 404 */
export async function loadReceiver(services: Services, request: MemberRequest): Promise<LoadedTrigger> {
  const pipeline = await loadPipeline(services, request);
  const webhook = await findWebhook(services.db, { pipelineId: pipeline.id });
  if (webhook?.id !== request.parameter("trigger")) return loadTrigger(services, request);
  addHostCrumb(request, webhook.label);
  return { pipeline, trigger: webhook };
}

/** The page has the host's name, as the button that leads to it. */
function addHostCrumb(request: MemberRequest, text: string): void {
  addCrumbs(request.event, { text, path: providerPath(request) });
}

/** The field of the filter condition in the settings of a provider. */
export function conditionPath(request: Pick<MemberRequest, "organization" | "parameter">): string {
  return `${providerPath(request, patterns.providerSettingsPage)}#field-filter_condition`;
}

/** The field for branches of pull requests, which the address unfolds. */
export function requestBranchesPath(request: Pick<MemberRequest, "organization" | "parameter">): string {
  const settings = providerPath(request, patterns.providerSettingsPage);
  return `${settings}?unfold=pull-requests#field-pull_request_branch_filter_configuration`;
}

/** The provider's page, or one below it. */
export function providerPath(
  request: Pick<MemberRequest, "organization" | "parameter">,
  pattern: PatternWith<"org" | "slug"> = patterns.providerPage,
): string {
  return pipelinePath(request, pattern);
}
