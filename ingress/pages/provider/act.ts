import { switchWebhook } from "../../../shared/pipelines/provider/webhook.ts";
import { loadPipeline } from "../address/pipeline.ts";
import { providerPath } from "../address/provider.ts";
import { memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";

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

/** GET of these forms: signing in after the session ended leads here. */
export const redirectToProvider = memberPage((_, request) => providerPath(request));
