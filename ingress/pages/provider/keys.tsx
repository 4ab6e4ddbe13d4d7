import { findHookProblem } from "../../../shared/connections/hook-at-host.ts";
import { issueToken } from "../../../shared/crypto/tokens.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { providerIn } from "../../../shared/pipelines/provider/provider.ts";
import {
  type OpenedWebhook,
  openWebhook,
  rotateWebhook,
  setWebhookSecret,
} from "../../../shared/pipelines/provider/webhook.ts";
import { findWebhook } from "../../../shared/pipelines/provider/webhook-store.ts";
import type { Pipeline, PipelineFacts } from "../../../shared/pipelines/store.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type ProviderId, providers } from "../../../shared/sources/providers.ts";
import { withDefaults } from "../../../shared/sources/settings.ts";
import { loadProvider, providerPath } from "../address/provider.ts";
import { CopyField, OnlyLocal } from "../ui/copy-field.tsx";
import { LinkButton, PostButton } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { confirmation, narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { Steps } from "./host-steps.tsx";
import { loadProviderDetails } from "./load.ts";
import { TryPush } from "./try-push.tsx";

/** Shows the address and the secret of a webhook, once, and a command that tries them. */
async function keysPage(
  services: Services,
  { organization }: MemberRequest,
  {
    title,
    pipeline,
    provider,
    isChange,
  }: {
    title: string;
    pipeline: PipelineFacts;
    provider: ProviderId;
    /** The host still has others. */
    isChange: boolean;
  },
  webhook: OpenedWebhook,
): Promise<PageContent> {
  const { webhookUrl, secret } = webhook;
  const { title: host } = providers[provider];
  const parameters = { org: organization.slug, slug: pipeline.slug };
  const canBeMade = (await findHookProblem(services, pipeline)) === undefined;
  return {
    title,
    script: ["once.js", "copy.js"],
    section: "pipelines",
    content: (
      <>
        <h1>{title}</h1>
        <section class="card" aria-labelledby="keys">
          <h2 id="keys">For {host}</h2>
          {isChange && <p class="warning">Until {host} has this, what it sends is refused.</p>}
          {secret !== null && (
            <p>
              <strong>Copy the secret now: it is not shown again.</strong> Members find the address under{" "}
              {host} on the pipeline’s page.
            </p>
          )}
          <CopyField id="webhook-url" label="Address" rows={2} value={webhookUrl} />
          <OnlyLocal url={webhookUrl} />
          {secret !== null && <CopyField id="webhook-secret" label="Secret" rows={2} value={secret} />}
        </section>
        <section aria-labelledby="steps">
          <h2 id="steps">At {host}</h2>
          {canBeMade && (
            <>
              <div class="actions">
                <PostButton path={pathTo(patterns.createWebhookPage, parameters)}>
                  Make it at {host} for me
                </PostButton>
              </div>
              <p>Or make it by hand:</p>
            </>
          )}
          <Steps
            provider={provider}
            repository={pipeline.repository ?? ""}
            settings={withDefaults(pipeline.providerSettings)}
            isVerified={secret !== null}
          />
        </section>
        <section aria-labelledby="try">
          <h2 id="try">Try it</h2>
          <TryPush
            issueTracker={services.config.issueTracker}
            pipeline={pipeline}
            provider={provider}
            webhook={{ url: webhookUrl, isVerified: secret !== null, secret: secret ?? undefined }}
          />
        </section>
        <p class="actions">
          <LinkButton
            href={pathTo(patterns.providerPage, parameters)}
            text={`Wait for the ${isChange ? "next" : "first"} delivery`}
          />
        </p>
      </>
    ),
  };
}

/** The same of a webhook that was just made. Undefined: the pipeline has none. */
export async function newKeysPage(
  services: Services,
  request: MemberRequest,
  pipeline: Pipeline,
  title: string,
): Promise<PageContent | undefined> {
  const provider = await providerIn(services.db, pipeline);
  const webhook = await findWebhook(services.db, { pipelineId: pipeline.id });
  if (!provider || !webhook) return undefined;
  return keysPage(
    services,
    request,
    { title, pipeline, provider, isChange: false },
    openWebhook(services, webhook),
  );
}

/** GET …/provider/secret */
export const providerSecretPage = memberPage(async (services, request) => {
  const { provider, webhook } = await loadProviderDetails(services, request);
  if (provider === null || !webhook) throw notFound("provider");
  const isVerified = webhook.row.secretSealed !== null;
  const path = providerPath(request, patterns.providerSecretPage);
  return narrowPage({
    title: isVerified ? "Change the secret" : "Verify requests",
    section: "pipelines",
    script: "once.js",
    content: (
      <>
        <p>
          The source host signs each request with the secret, or sends it along. Requests without the right
          one are refused with 401: those of {providers[provider].title} too, until it has the new one.
        </p>
        <div class="actions">
          <PostButton path={path} fields={{ do: "replace" }}>
            {isVerified ? "Make a new secret" : "Make a secret"}
          </PostButton>
          <LinkButton kind="secondary" href={providerPath(request)} text="Cancel" />
        </div>
        {isVerified && (
          <section aria-labelledby="without">
            <h2 id="without">Without a secret</h2>
            <p class="warning">
              Whoever learns the address can then make builds of any commit and branch. It stands in the
              settings of the host, and in the logs of proxies. Do this only for a host that cannot send a
              secret.
            </p>
            <PostButton path={path} fields={{ do: "remove" }} class="danger">
              Verify no more
            </PostButton>
          </section>
        )}
      </>
    ),
  });
});

/** POST …/provider/secret {do: replace or remove}: the answer shows the new secret, once. */
export const changeProviderSecret = memberAction(async (services, request, form) => {
  const { pipeline, provider, webhook } = await loadProviderDetails(services, request);
  if (provider === null || !webhook) throw notFound("provider");
  const secret = form.get("do") === "remove" ? null : issueToken("webhookSecret");
  await setWebhookSecret(services, request.actor, pipeline, secret);
  if (secret === null) return withNotice(providerPath(request), "provider_unverified");
  const shown = { title: "New secret", pipeline, provider, isChange: true };
  return keysPage(services, request, shown, { webhookUrl: webhook.url, secret });
});

/** GET …/provider/rotate */
export const rotateProviderPage = memberPage(async (services, request) => {
  const { provider } = await loadProvider(services, request);
  if (provider === null) throw notFound("provider");
  return confirmation({
    title: "Replace address and secret?",
    section: "pipelines",
    text: "The webhook gets a new address and a new secret, which are shown once you go on. The present address answers 404 at once: what the host sends there builds nothing. Give both to the host right away.",
    button: "Replace",
    path: providerPath(request, patterns.rotateProviderPage),
    back: providerPath(request),
  });
});

/** POST …/provider/rotate: the answer shows the new ones. */
export const rotateProviderForm = memberAction(async (services, request) => {
  const { pipeline, provider } = await loadProvider(services, request);
  if (provider === null) throw notFound("provider");
  const isChange = (await findWebhook(services.db, { pipelineId: pipeline.id })) !== undefined;
  const opened = await rotateWebhook(services, request.actor, pipeline);
  const shown = { title: "New address and secret", pipeline, provider, isChange };
  return keysPage(services, request, shown, opened);
});
