import { createWebhookAtHost } from "../../../shared/pipelines/provider/create-at-host.ts";
import { switchWebhook } from "../../../shared/pipelines/provider/webhook.ts";
import { Refusal } from "../../../shared/refusal.ts";
import { loadPipeline } from "../address/pipeline.ts";
import { providerPath } from "../address/provider.ts";
import { memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import { showProvider } from "./show.tsx";

/** POST …/provider/enable */
export const enableProvider = switchProvider(true);

/** POST …/provider/disable */
export const disableProvider = switchProvider(false);

function switchProvider(enabled: boolean) {
  return memberAction(async (services, request) => {
    await switchWebhook(services, request.actor, await loadPipeline(services, request), enabled);
    return withNotice(providerPath(request), enabled ? "provider_enabled" : "provider_disabled");
  });
}

/** POST …/provider/create: makes the webhook at the host. */
export const createAtHost = memberAction(async (services, request) => {
  const pipeline = await loadPipeline(services, request);
  try {
    await createWebhookAtHost(services, request.actor, pipeline);
    return withNotice(providerPath(request), "provider_created");
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 422) throw error;
    const { reason = "" } = error.details;
    return showProvider(services, request, `${error.message} ${reason}`);
  }
});

/** GET of these forms: signing in after the session ended leads here. */
export const redirectToProvider = memberPage((_, request) => providerPath(request));
