import type { ComponentChildren } from "preact";
import { nextRebuild } from "../../../shared/builds/making/rebuild.ts";
import type { BuildOfDelivery } from "../../../shared/builds/rows/build-store.ts";
import { type ParametersOf, type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { notFound, sizeInWords } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { usedText, withDefaults } from "../../../shared/sources/settings.ts";
import { rebuildDelivery } from "../../../shared/triggers/deliveries/rebuild.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import type { ReadValue } from "../../../shared/triggers/filter/read-values.ts";
import { findPayload, type PayloadStart } from "../../../shared/triggers/payloads/store.ts";
import { visibleHeaders } from "../../../shared/triggers/types.ts";
import { deliveryPath, type LoadedDelivery, loadDelivery } from "../address/delivery.ts";
import { conditionPath } from "../address/provider.ts";
import { admitPayload } from "../builds/load.ts";
import { PayloadView, payloadDownload } from "../builds/payload.tsx";
import { CsrfField, FormError, LinkButton } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { Fact } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { OtherBranchInFull } from "./left-out.tsx";
import { BuildLinks, DeliveryState, reasonInWords } from "./list.tsx";
import { type EventNotes, loadDeliveryDetails } from "./load.ts";
import { isSecret, Values } from "./read-values.tsx";

/** GET …/triggers/:trigger/deliveries/:delivery */
export const deliveryPage = memberPage((services, request) => show(services, request));

/** POST …/rebuild {rebuild}: redirects to the build. */
export const buildAgain = memberAction(async (services, request, form) => {
  const loaded = await loadDelivery(services, request);
  const expected = Number(form.get("rebuild") ?? Number.NaN);
  const outcome = await tryForm(() => rebuildDelivery(services, request.actor, loaded, expected));
  if ("problems" in outcome) return show(services, request, outcome.problems);
  return pathTo(patterns.buildPage, {
    org: request.organization.slug,
    slug: loaded.pipeline.slug,
    number: String(outcome.done.number),
  });
});

/** GET …/rebuild: signing in after the session ended leads here. */
export const redirectToDelivery = memberPage(async (services, request) =>
  deliveryPath(request, await loadDelivery(services, request)),
);

/** GET …/payload: downloads the request's bytes unchanged. */
export const deliveryPayloadFile = memberPage(async (services, request) => {
  const { delivery } = await loadDelivery(services, request);
  await admitPayload(services, request, delivery.id);
  const payload = await findPayload(services.db, delivery.id);
  if (!payload) throw notFound("payload");
  return payloadDownload(payload.body, `delivery-${delivery.id}.json`);
});

async function show(
  services: Services,
  request: MemberRequest,
  problems?: FormProblems,
): Promise<PageContent> {
  const { config } = services;
  const { organization } = request;
  const data = await loadDeliveryDetails(services, request);
  const { pipeline, trigger, delivery, builds, payload, note, other, isBuiltNow } = data;
  const path = (pattern: PatternWith<"org" | "slug" | "trigger" | "delivery">) =>
    deliveryPath(request, data, pattern);
  const parameters = { org: organization.slug, slug: pipeline.slug };
  const canBuild = payload && delivery.status !== null && !pipeline.archivedAt;
  const canTry = payload && !trigger.isProvider && organization.features.includes("webhook_filtering");
  return {
    title: "Delivery",
    status: problems ? 422 : 200,
    section: "pipelines",
    topics: [`trigger:${trigger.id}`],
    content: (
      <>
        <div class="heading">
          <h1>
            Delivery <DeliveryState delivery={delivery} isBuilt={builds.length > 0} />
          </h1>
          <div class="actions">
            {canTry && (
              <LinkButton
                kind="secondary"
                href={`${path(patterns.filterPage)}?delivery=${delivery.id}`}
                text="Try a filter"
              />
            )}
            {canBuild && (
              <form method="post" action={path(patterns.rebuildPage)}>
                <CsrfField />
                <input type="hidden" name="rebuild" value={nextRebuild(builds.at(-1)?.rebuild)} />
                <button type="submit">{builds.length > 0 ? "Build again" : "Build it"}</button>
              </form>
            )}
          </div>
        </div>
        {problems && <FormError problems={problems} />}
        {canBuild && isBuiltNow && builds.length === 0 && (
          <p class="quiet">It would be built now: settings have changed since it came.</p>
        )}
        <Facts
          delivery={delivery}
          builds={builds}
          reason={other ? <OtherBranchInFull other={other} request={request} /> : reasonInWords(delivery)}
          note={note}
          filter={
            delivery.reason === "filter_mismatch" && (
              <Filter
                {...data}
                canTry={!!canTry}
                path={path}
                request={request}
                shown={visibleHeaders(config.issueTracker, trigger)}
              />
            )
          }
          parameters={parameters}
        />
        {payload ? (
          <>
            <Headers payload={payload} shown={visibleHeaders(config.issueTracker, trigger)} />
            <PayloadView payload={payload} path={path(patterns.deliveryPayloadPage)} />
          </>
        ) : (
          <p class="empty">Its request is no longer kept.</p>
        )}
      </>
    ),
  };
}

function Facts({
  delivery,
  builds,
  reason,
  note,
  filter,
  parameters,
}: {
  delivery: Delivery;
  builds: BuildOfDelivery[];
  /** Why it made no build by itself. */
  reason: ComponentChildren;
  /** On its event. */
  note: string | undefined;
  /** The present filter, if one left it out. */
  filter: ComponentChildren;
  parameters: ParametersOf<typeof patterns.pipelinePage>;
}) {
  return (
    <dl class="facts panel">
      <Fact name="Received" value={<Time at={delivery.receivedAt} />} />
      <Fact
        name={builds.length === 1 ? "Build" : "Builds"}
        value={builds.length > 0 && <BuildLinks builds={builds} parameters={parameters} />}
      />
      <Fact
        name={builds.length > 0 ? "Why not at once" : "Why no build"}
        value={
          reason && note ? (
            <>
              {reason}: {note}
            </>
          ) : (
            reason
          )
        }
      />
      <Fact name="Present filter" value={filter} class="wide" />
      <Fact name="Left out" value={reason ? null : note} />
      <Fact name="Size" value={sizeInWords(delivery.size)} />
      <Fact name="Content type" value={delivery.contentType} />
      <Fact name="Event" value={delivery.event || null} />
      <Fact name="Sender’s id" value={delivery.externalId || null} />
      <Fact name="Id" value={<code>{delivery.id}</code>} class="wide" />
    </dl>
  );
}

/**
 * The filter may have changed since the delivery came. Leads to the form that tries or changes it.
 * @param shown names of headers whose values are no secrets
 */
function Filter({
  pipeline,
  trigger,
  delivery,
  values = [],
  canTry,
  path,
  request,
  shown,
}: LoadedDelivery &
  EventNotes & {
    canTry: boolean;
    shown: Set<string>;
    request: MemberRequest;
    path: (pattern: PatternWith<"org" | "slug" | "trigger" | "delivery">) => string;
  }) {
  const condition = usedText(withDefaults(pipeline.providerSettings), "filter_condition");
  const expression = trigger.isProvider ? condition : trigger.filter;
  if (!expression) return <>none</>;
  const code = <code>{expression}</code>;
  const trial = canTry ? `${path(patterns.filterPage)}?delivery=${delivery.id}` : undefined;
  const href = trigger.isProvider ? conditionPath(request) : trial;
  // Variables of builds are shown by the page of a build alone.
  const isShown = (value: ReadValue) => !isSecret(value, shown) && !value.member.startsWith("build.env(");
  return (
    <>
      {href ? <a href={href}>{code}</a> : code}
      {values.length > 0 && <Values values={values} isShown={isShown} />}
    </>
  );
}

/** Shows only values that cannot be secrets. */
function Headers({ payload: { headers }, shown }: { payload: PayloadStart; shown: Set<string> }) {
  return (
    <details id="headers" class="fold">
      <summary>{headers.length} headers</summary>
      <dl class="facts">
        {headers.map(([name, value]) => (
          <>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{shown.has(name.toLowerCase()) ? value : <span class="quiet">not shown</span>}</dd>
          </>
        ))}
      </dl>
    </details>
  );
}
