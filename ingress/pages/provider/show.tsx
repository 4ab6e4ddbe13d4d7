import type { ComponentChildren } from "preact";
import { findHookProblem } from "../../../shared/connections/hook-at-host.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type ProviderId, providers } from "../../../shared/sources/providers.ts";
import { usedText, withDefaults } from "../../../shared/sources/settings.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { providerPath } from "../address/provider.ts";
import { causeWords } from "../deliveries/causes.ts";
import { leftOutInBrief } from "../deliveries/left-out.tsx";
import { BuildLinks, Deliveries, DeliveryState, reasonInWords } from "../deliveries/list.tsx";
import { State } from "../states/state.tsx";
import { toneOf } from "../states/tones.ts";
import { Refused } from "../triggers/refused.tsx";
import { OnlyLocal } from "../ui/copy-field.tsx";
import { FormError, LinkButton, PostButton } from "../ui/form.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { Time } from "../ui/times.tsx";
import { Built } from "./built.tsx";
import { Steps } from "./host-steps.tsx";
import { type LoadedWebhook, loadProviderDetails } from "./load.ts";
import { privatePage } from "./private.tsx";
import { type LoadedStatuses, loadStatuses, Statuses } from "./statuses.tsx";
import { TryPush } from "./try-push.tsx";

/** GET …/pipelines/:slug/provider: how to set up the webhook of the source host, and its last deliveries. */
export const providerPage = memberPage((services, request) => showProvider(services, request));

/** @param refusal why the host did not get the webhook */
export async function showProvider(
  services: Services,
  request: MemberRequest,
  refusal?: string,
): Promise<PageContent> {
  const { pipeline, provider, webhook } = await loadProviderDetails(services, request);
  if (provider === null) return privatePage(request, pipeline);
  if (!webhook) return unmadePage(request, pipeline, provider);
  const hookProblem = await findHookProblem(services, pipeline);
  const statuses = await loadStatuses(services, pipeline);
  const { issueTracker } = services.config;
  return show(request, { pipeline, provider, webhook, hookProblem, refusal, statuses, issueTracker });
}

interface Connected {
  pipeline: PipelineFacts;
  provider: ProviderId;
  webhook: LoadedWebhook;
  /** Why it cannot be made at the host. */
  hookProblem: string | undefined;
  refusal: string | undefined;
  statuses: LoadedStatuses;
  issueTracker: string;
}

function show(request: MemberRequest, connected: Connected): PageContent {
  const { pipeline, provider, webhook, hookProblem, refusal, statuses, issueTracker } = connected;
  const { row, deliveries } = webhook;
  const settings = withDefaults(pipeline.providerSettings);
  const parameters = { org: request.organization.slug, slug: pipeline.slug, trigger: row.id };
  const path = (pattern: PatternWith<"org" | "slug">) => providerPath(request, pattern);
  const pathOfRefused = (refused: string) =>
    pathTo(patterns.refusedRequestPage, { ...parameters, request: refused });
  return {
    title: providers[provider].title,
    ...(refusal && { status: 422 }),
    script: ["once.js", "copy.js"],
    section: "pipelines",
    topics: [`trigger:${row.id}`, `pipeline:${pipeline.id}`],
    content: (
      <>
        <div class="heading">
          <h1>
            {providers[provider].title} <State state={row.enabled ? "enabled" : "disabled"} />
          </h1>
          <div class="actions">
            <LinkButton kind="secondary" href={path(patterns.providerSettingsPage)} text="Settings" />
            <PostButton
              path={path(row.enabled ? patterns.disableProviderPage : patterns.enableProviderPage)}
              class="secondary"
            >
              {row.enabled ? "Disable" : "Enable"}
            </PostButton>
          </div>
        </div>
        <Arrival
          webhook={webhook}
          parameters={parameters}
          pathOfRefused={pathOfRefused}
          isLimited={
            pipeline.branchConfiguration !== null || usedText(settings, "filter_condition") !== undefined
          }
        />
        <LastDeliveries webhook={webhook} parameters={parameters} />
        <Refused
          counts={webhook.refusals}
          hours={webhook.hours}
          requests={webhook.refusedRequests}
          pathOf={pathOfRefused}
        />
        <Webhook webhook={webhook} path={path}>
          {refusal && <FormError>{refusal}</FormError>}
          {hookProblem ? (
            <p class="quiet">
              Signalbox cannot make the webhook at the host for you yet. {hookProblem}
              {request.role === "admin" && (
                <>
                  : see{" "}
                  <a href={pathTo(patterns.connectionsPage, { org: request.organization.slug })}>
                    Repository connections
                  </a>
                </>
              )}
              .
            </p>
          ) : (
            <div class="actions">
              <PostButton
                path={path(patterns.createWebhookPage)}
                class={deliveries.length > 0 ? "secondary" : undefined}
              >
                Make it at {providers[provider].title} for me
              </PostButton>
            </div>
          )}
          <details id="setup" class="fold" open={deliveries.length === 0}>
            <summary>How to set it up at {providers[provider].title}</summary>
            <Steps
              provider={provider}
              repository={pipeline.repository ?? ""}
              settings={settings}
              isVerified={row.secretSealed !== null}
              secretPath={path(patterns.providerSecretPage)}
            />
            <h3>Try it</h3>
            <TryPush
              issueTracker={issueTracker}
              pipeline={pipeline}
              provider={provider}
              webhook={{ url: webhook.url, isVerified: row.secretSealed !== null }}
            />
          </details>
        </Webhook>
        <Built pipeline={pipeline} provider={provider} request={request} />
        <Statuses statuses={statuses} provider={provider} request={request} />
      </>
    ),
  };
}

/** The others are folded: on a phone they would take several screens. */
const maxShown = 5;

interface Placed {
  webhook: LoadedWebhook;
  parameters: { org: string; slug: string; trigger: string };
}

function LastDeliveries({ webhook, parameters }: Placed) {
  const { deliveries, builds, leftOut } = webhook;
  if (deliveries.length === 0) return null;
  const list = (listed: Delivery[]) => (
    <Deliveries deliveries={listed} builds={builds} placeOf={() => parameters} leftOut={leftOut} />
  );
  const others = deliveries.slice(maxShown);
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">Last deliveries</h2>
      {list(deliveries.slice(0, maxShown))}
      {others.length > 0 && (
        <details id="earlier-deliveries" class="fold">
          <summary>{others.length} earlier</summary>
          {list(others)}
        </details>
      )}
    </section>
  );
}

/** Why a delivery made no build. */
function reasonOf({ leftOut }: LoadedWebhook, delivery: Delivery): string | undefined {
  return leftOutInBrief(leftOut.get(delivery.id), reasonInWords(delivery));
}

/** The last delivery, or that there is none yet. */
function Arrival({
  webhook,
  parameters,
  pathOfRefused,
  isLimited,
}: Placed & {
  pathOfRefused: (request: string) => string;
  /** Settings may leave pushes out. */
  isLimited: boolean;
}) {
  const { row, deliveries, builds } = webhook;
  const [last] = deliveries;
  if (!row.enabled)
    return (
      <p class="warning">It is disabled: what the host sends is refused with 403, and builds nothing.</p>
    );
  const [refused] = webhook.refusedRequests;
  if (refused && !(last && last.receivedAt > refused.receivedAt)) {
    const [cause, remedy] = causeWords[refused.cause];
    return (
      <p class="warning">
        The last delivery was <a href={pathOfRefused(refused.id)}>refused</a> <Time at={refused.receivedAt} />
        : {cause}. {remedy}
      </p>
    );
  }
  if (!last)
    return (
      <p class="notice neutral">
        <strong>No delivery yet.</strong> This page shows the first one as soon as it arrives.
        <noscript> Without JavaScript, load the page again.</noscript>
      </p>
    );
  const at = (
    <a href={pathTo(patterns.deliveryPage, { ...parameters, delivery: last.id })}>
      <Time at={last.receivedAt} />
    </a>
  );
  if (last.event === "ping" && last.reason === "event_ignored")
    return (
      <p class="notice">
        A ping reached this webhook {at}. The next push makes a build
        {isLimited && (
          <>
            , if <a href="#built">the settings</a> let it through
          </>
        )}
        .
      </p>
    );
  const made = builds.filter(({ deliveryId }) => deliveryId === last.id);
  const newest = made.at(-1);
  const reason = reasonOf(webhook, last);
  return (
    <p class={toneOf(newest?.state ?? "not_run") === "passed" ? "notice" : "quiet"}>
      Last delivery {at}:{" "}
      {newest ? (
        <BuildLinks builds={made} parameters={parameters} stateOf={({ state }) => state} />
      ) : (
        <>
          <DeliveryState delivery={last} />
          {reason && `, ${reason}`}
        </>
      )}
    </p>
  );
}

function Webhook({
  webhook: { row, url },
  path,
  children,
}: {
  webhook: LoadedWebhook;
  path: (pattern: PatternWith<"org" | "slug">) => string;
  children: ComponentChildren;
}) {
  return (
    <section class="card" aria-labelledby="webhook">
      <h2 id="webhook">The webhook</h2>
      <p>
        <code class="address">{url}</code>{" "}
        <button type="button" class="plain" data-text={url} aria-label="Copy the address" hidden>
          Copy
        </button>
        <span class="quiet" role="status" />
      </p>
      <OnlyLocal url={url} />
      {row.secretSealed === null ? (
        <p class="warning">
          Requests are not verified: whoever knows the address can make builds of any commit.
        </p>
      ) : (
        <p>
          Each request is verified by the secret. The secret was shown once. If it is lost, make a new one.
        </p>
      )}
      <p class="actions">
        <LinkButton
          kind="secondary"
          href={path(patterns.providerSecretPage)}
          text={row.secretSealed === null ? "Verify requests" : "Change the secret"}
        />
        <LinkButton
          kind="secondary"
          href={path(patterns.rotateProviderPage)}
          text="Replace address and secret"
        />
      </p>
      {children}
    </section>
  );
}

/** Of a pipeline that a version without providers made. A worker makes it, or the person now. */
function unmadePage(request: MemberRequest, pipeline: PipelineFacts, provider: ProviderId): PageContent {
  return {
    title: providers[provider].title,
    script: ["once.js", "copy.js"], // once it is made, the open page shows its address
    section: "pipelines",
    topics: [`pipeline:${pipeline.id}`],
    content: (
      <>
        <h1>{providers[provider].title}</h1>
        <p>The webhook of this pipeline is not made yet. That happens by itself within the hour, or now:</p>
        <div class="actions">
          <PostButton path={providerPath(request, patterns.rotateProviderPage)}>Make the webhook</PostButton>
          <LinkButton kind="secondary" href={pipelinePath(request)} text="Back to the pipeline" />
        </div>
      </>
    ),
  };
}
