import { dayMs } from "../../../shared/durations.ts";
import { patterns } from "../../../shared/paths.ts";
import { providerIn } from "../../../shared/pipelines/provider/provider.ts";
import { providers } from "../../../shared/sources/providers.ts";
import { maxTriggersPerPipeline } from "../../../shared/triggers/create.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import type { ListedTrigger } from "../../../shared/triggers/store.ts";
import { type TriggerType, typeOfTrigger } from "../../../shared/triggers/types.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { triggerPath } from "../address/trigger.ts";
import { type Series, sumOf } from "../charts/bars.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import { DeliveryState, reasonInWords } from "../deliveries/list.tsx";
import { State } from "../states/state.tsx";
import { LinkButton } from "../ui/form.tsx";
import { memberPage } from "../ui/member-page.ts";
import { useNow } from "../ui/rendering.ts";
import { PublicPreview, Table } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { loadTriggers } from "./load.ts";

/** GET /organizations/:org/pipelines/:slug/triggers */
export const triggersPage = memberPage(async (services, request) => {
  const { config } = services;
  const { pipeline, triggers, lastDeliveries, seriesOf } = await loadTriggers(services, request);
  const isFull = triggers.length >= maxTriggersPerPipeline;
  const provider = await providerIn(services.db, pipeline);
  return {
    title: "Triggers",
    section: "pipelines",
    topics: [`pipeline:${pipeline.id}`, ...triggers.map(({ id }) => `trigger:${id}` as const)],
    content: (
      <>
        <div class="heading">
          <h1>
            Triggers <PublicPreview />
          </h1>
          {!isFull && (
            <p class="actions">
              <LinkButton href={pipelinePath(request, patterns.newTriggerPage)} text="New trigger" />
            </p>
          )}
        </div>
        {isFull && (
          <p class="warning">
            A pipeline can have at most {maxTriggersPerPipeline} triggers. Delete one before you create
            another.
          </p>
        )}
        {triggers.length === 0 ? (
          <p class="empty">
            No trigger yet.{" "}
            {provider !== null && (
              <>
                Pushes need none:{" "}
                <a href={pipelinePath(request, patterns.providerPage)}>{providers[provider].title}</a> reports
                them by a webhook of its own.{" "}
              </>
            )}
            A trigger is a URL: for every webhook that GitHub, GitLab, {config.issueTracker} or any other
            program posts there, the pipeline builds, and the build’s steps can read what was posted.
          </p>
        ) : (
          <Table
            caption="Triggers"
            columns={["Trigger", "State", "Last delivery", "Last 7 days", "URL ends in"]}
            isList
          >
            {triggers.map((trigger) => (
              <Row
                key={trigger.id}
                trigger={trigger}
                type={typeOfTrigger(config.issueTracker, trigger)}
                path={triggerPath(request, trigger)}
                lastDelivery={lastDeliveries.get(trigger.id)}
                series={seriesOf(trigger)}
              />
            ))}
          </Table>
        )}
      </>
    ),
  };
});

function Row({
  trigger,
  type,
  path,
  lastDelivery,
  series,
}: {
  trigger: ListedTrigger;
  type: TriggerType;
  path: string;
  lastDelivery: Delivery | undefined;
  series: Series[];
}) {
  return (
    <tr>
      <th scope="row" class="described">
        <a href={path}>{trigger.label}</a>
        <span class="quiet">{type.title}</span>
      </th>
      <td>
        <State state={trigger.enabled ? "enabled" : "disabled"} />
        {isUnverified(trigger, type) && (
          <>
            {" "}
            <State state="not_verified" />
          </>
        )}
      </td>
      <td data-label="Last delivery">
        {lastDelivery ? (
          <>
            <Time at={lastDelivery.receivedAt} /> <DeliveryState delivery={lastDelivery} />
            {lastDelivery.reason && <span class="reason">{reasonInWords(lastDelivery)}</span>}
          </>
        ) : (
          <span class="quiet">none yet</span>
        )}
      </td>
      <td data-label="Last 7 days">
        <Week series={series} lastDelivery={lastDelivery} />
      </td>
      <td data-label="URL ends in">
        <code>…{trigger.tokenHint}</code>
      </td>
    </tr>
  );
}

/** Its sender could sign deliveries, and nobody checks. */
function isUnverified({ hasSecret }: ListedTrigger, { signatures, isConfigurable }: TriggerType): boolean {
  return signatures.length > 0 && !isConfigurable && !hasSecret;
}

/** Deliveries are counted each minute. */
function Week({ series, lastDelivery }: { series: Series[]; lastDelivery: Delivery | undefined }) {
  const total = series.reduce((sum, each) => sum + sumOf(each), 0);
  const weekAgo = useNow().getTime() - 7 * dayMs;
  const isCounted = lastDelivery === undefined || lastDelivery.receivedAt.getTime() < weekAgo;
  if (total === 0) return <span class="quiet">{isCounted ? "none" : "not counted yet"}</span>;
  return (
    <>
      {total.toLocaleString("en")} <Sparkline series={series} label="by the hour" />
    </>
  );
}
