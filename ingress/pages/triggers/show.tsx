import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { buildOf } from "../../../shared/triggers/columns.ts";
import { refusedBodiesUntil } from "../../../shared/triggers/deliveries/refused-bodies.ts";
import { findFilterWarning } from "../../../shared/triggers/filter/warnings.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { linkIdPages } from "../../http/cursor-pager.ts";
import { triggerPath } from "../address/trigger.ts";
import { BarChart } from "../charts/bar-chart.tsx";
import { bulkRebuildPath, RunningRebuild } from "../deliveries/bulk-rebuild.tsx";
import { Deliveries } from "../deliveries/list.tsx";
import { DeliverySearchForm } from "../deliveries/search.tsx";
import { addressOf, queryOf } from "../search/read.ts";
import { State } from "../states/state.tsx";
import { AuditList } from "../ui/audit-list.tsx";
import { LinkButton, PostButton } from "../ui/form.tsx";
import { memberPage } from "../ui/member-page.ts";
import { CursorPager } from "../ui/pager.tsx";
import { Fact, PublicPreview } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { BackOff } from "./back-off.tsx";
import { deliveryCursors, loadTriggerDetails, type TriggerDetails } from "./load.ts";
import { Refused } from "./refused.tsx";

/** GET /organizations/:org/pipelines/:slug/triggers/:trigger: its settings and deliveries. */
export const triggerPage = memberPage(async (services, request) => {
  const { organization } = request;
  const data = await loadTriggerDetails(services, request);
  const { pipeline, trigger, deliveries } = data;
  const now = services.clock.now();
  const path = (pattern: PatternWith<"org" | "slug" | "trigger">) => triggerPath(request, trigger, pattern);
  const links = linkIdPages(path(patterns.triggerPage), deliveryCursors, data.page, queryOf(data.search));
  const isSearching = `${queryOf(data.search)}` !== "";
  const parameters = { org: organization.slug, slug: pipeline.slug, trigger: trigger.id };
  return {
    title: trigger.label,
    section: "pipelines",
    topics: [`trigger:${trigger.id}`],
    content: (
      <>
        <div class="heading">
          <h1>
            {trigger.label} <State state={trigger.enabled ? "enabled" : "disabled"} /> <PublicPreview />
          </h1>
          <Actions trigger={trigger} path={path} />
        </div>
        <BackOff misses={data.filterMisses} />
        <Facts data={data} editPath={path(patterns.editTriggerPage)} />
        <div class="heading">
          <h2>Deliveries</h2>
          <p class="actions">
            <LinkButton kind="secondary" href={path(patterns.triggerSetupPage)} text="How to set up" />
            {data.canFilter && (
              <LinkButton kind="secondary" href={path(patterns.filterPage)} text="Try a filter" />
            )}
            {trigger.enabled && (
              <LinkButton
                kind="secondary"
                href={path(patterns.sendDeliveryPage)}
                text="Send a test delivery"
              />
            )}
          </p>
        </div>
        {data.hasFigures && !isSearching && (
          <BarChart
            id="hours"
            subject="Deliveries of the last 7 days"
            unit="hour"
            times={data.hours}
            series={data.series}
          />
        )}
        {(deliveries.length > 0 || isSearching) && (
          <DeliverySearchForm
            search={data.search}
            path={path(patterns.triggerPage)}
            hasEvents={data.type.eventHeader !== undefined}
          />
        )}
        {data.latestRebuild && (
          <RunningRebuild bulk={data.latestRebuild} path={bulkRebuildPath(request, data.latestRebuild)} />
        )}
        {deliveries.length > 0 && data.search.status !== "in process" && (
          <p class="actions">
            <LinkButton
              kind="secondary"
              href={addressOf(path(patterns.newBulkRebuildPage), data.search)}
              text="Build these again"
            />
          </p>
        )}
        {deliveries.length === 0 && isSearching ? (
          <p class="empty">
            No delivery matches. <a href={path(patterns.triggerPage)}>Show all deliveries</a>
          </p>
        ) : deliveries.length === 0 ? (
          <p class="empty">
            Nothing has come yet. Give the trigger’s URL to its sender, or send a test delivery.
          </p>
        ) : (
          <Deliveries deliveries={deliveries} builds={data.builds} placeOf={() => parameters} />
        )}
        <CursorPager label="Pages of deliveries" links={{ Newer: links.newer, Older: links.older }} />
        <Refused
          counts={data.refusals}
          hours={data.hours}
          requests={data.refusedRequests}
          bodies={{
            until: refusedBodiesUntil(trigger, now),
            keepPath: path(patterns.keepRefusedBodiesPage),
            dropPath: path(patterns.dropRefusedBodiesPage),
          }}
          pathOf={(request) => pathTo(patterns.refusedRequestPage, { ...parameters, request })}
        />
        <AuditList entries={data.auditEntries} viewer={request} path={path(patterns.triggerHistoryPage)} />
      </>
    ),
  };
});

function Actions({
  trigger,
  path,
}: {
  trigger: Trigger;
  path: (pattern: PatternWith<"org" | "slug" | "trigger">) => string;
}) {
  return (
    <div class="actions">
      <LinkButton kind="secondary" href={path(patterns.editTriggerPage)} text="Edit" />
      <PostButton
        path={path(trigger.enabled ? patterns.disableTriggerPage : patterns.enableTriggerPage)}
        class="secondary"
      >
        {trigger.enabled ? "Disable" : "Enable"}
      </PostButton>
      <LinkButton kind="secondary" href={path(patterns.replaceTriggerPage)} text="Replace" />
      <LinkButton kind="danger" href={path(patterns.deleteTriggerPage)} text="Delete" />
    </div>
  );
}

function notVerified(editPath: string) {
  return (
    <>
      <State state="not_verified" />. Whoever learns the URL can make builds:{" "}
      <a href={editPath}>verify deliveries</a>
    </>
  );
}

function Facts({ data, editPath }: { data: TriggerDetails; editPath: string }) {
  const { trigger, type, variables, users, limit } = data;
  const { buildBranch, buildCommit, buildMessage } = buildOf(trigger);
  const warning = trigger.filter !== null && findFilterWarning(trigger.filter);
  return (
    <dl class="facts panel">
      <Fact name="Type" value={type.title} />
      <Fact name="Builds" value={`${buildBranch} at ${buildCommit}`} />
      <Fact name="Message" value={buildMessage} />
      <Fact name="Variables" value={variables.length > 0 && variables.join(", ")} />
      {type.signatures.length > 0 && (
        <>
          <dt>Verification</dt>
          <dd>
            {trigger.secretSealed === null
              ? type.isConfigurable
                ? "No secret: deliveries are refused"
                : notVerified(editPath)
              : `On, by ${type.signatures.map(({ header }) => header).join(" or ")}`}
          </dd>
        </>
      )}
      {trigger.filter !== null && (
        <>
          <dt>Filter</dt>
          <dd class="wide">
            <code>{trigger.filter}</code>
            {warning && <span class="quiet"> {warning}</span>}
            {!data.canFilter && (
              <>
                {" "}
                <span class="quiet">
                  Filters are no longer available to this organization. This one still applies.
                </span>
              </>
            )}
          </dd>
        </>
      )}
      <Fact
        name="URL"
        value={`ends in ${trigger.tokenHint}. The whole URL was shown once, when it was made.`}
      />
      <dt>Created</dt>
      <dd>
        <Time at={trigger.createdAt} /> by {users.get(trigger.createdById)?.name ?? "somebody"}
      </dd>
      <dt>Hourly limit</dt>
      <dd>
        {(limit.limit - limit.remaining).toLocaleString("en")} of {limit.limit.toLocaleString("en")}{" "}
        deliveries used, by all triggers of the organization
      </dd>
    </dl>
  );
}
