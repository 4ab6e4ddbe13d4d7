import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { maxTriggersPerPipeline } from "../../../shared/triggers/create.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { typeOfTrigger } from "../../../shared/triggers/types.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { triggerPath } from "../address/trigger.ts";
import { type Series, sumOf } from "../charts/bars.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import { DeliveryState, reasonInWords } from "../deliveries/list.tsx";
import { eventsPath } from "../ui/live.ts";
import { memberPage } from "../ui/member-page.ts";
import { PublicPreview, State, Table } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { loadTriggers } from "./load.ts";

/** GET /organizations/:org/pipelines/:slug/triggers */
export function triggersPage(services: Services) {
  const { config, clock } = services;
  return memberPage(services, async (request) => {
    const { organization, visitor } = request;
    const { pipeline, triggers, lastDeliveries, seriesOf } = await loadTriggers(services, request);
    const isFull = triggers.length >= maxTriggersPerPipeline;
    return {
      title: "Triggers",
      within: { organization, section: "pipelines" },
      events: eventsPath(services, visitor, {
        organizations: [organization],
        topics: [`pipeline:${pipeline.id}`, ...triggers.map(({ id }) => `trigger:${id}` as const)],
      }),
      content: (
        <>
          <div class="heading">
            <h1>
              Triggers <PublicPreview />
            </h1>
            {!isFull && (
              <p class="actions">
                <a class="button" href={pipelinePath(request, patterns.newTriggerPage)}>
                  New trigger
                </a>
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
              No trigger yet. A trigger is a URL: for every webhook that GitHub, GitLab, {config.issueTracker}{" "}
              or any other program posts there, the pipeline builds, and the build’s steps can read what was
              posted.
            </p>
          ) : (
            <Table
              caption="Triggers"
              columns={["Trigger", "State", "Last delivery", "Last 7 days", "URL ends in"]}
            >
              {triggers.map((trigger) => (
                <Row
                  key={trigger.id}
                  trigger={trigger}
                  type={typeOfTrigger(config.issueTracker, trigger).title}
                  path={triggerPath(request, trigger)}
                  lastDelivery={lastDeliveries.get(trigger.id)}
                  series={seriesOf(trigger)}
                  now={clock.now()}
                />
              ))}
            </Table>
          )}
        </>
      ),
    };
  });
}

function Row({
  trigger,
  type,
  path,
  lastDelivery,
  series,
  now,
}: {
  trigger: Trigger;
  type: string;
  path: string;
  lastDelivery: Delivery | undefined;
  series: Series[];
  now: Date;
}) {
  return (
    <tr>
      <th scope="row" class="described">
        <a href={path}>{trigger.label}</a>
        <span class="quiet">{type}</span>
      </th>
      <td>
        <State state={trigger.enabled ? "enabled" : "disabled"} />
      </td>
      <td>
        {lastDelivery ? (
          <>
            <Time at={lastDelivery.receivedAt} now={now} /> <DeliveryState delivery={lastDelivery} />
            {lastDelivery.reason && <span class="reason">{reasonInWords(lastDelivery)}</span>}
          </>
        ) : (
          <span class="quiet">none yet</span>
        )}
      </td>
      <td>
        <Week series={series} />
      </td>
      <td>
        <code>…{trigger.tokenHint}</code>
      </td>
    </tr>
  );
}

function Week({ series }: { series: Series[] }) {
  const total = series.reduce((sum, each) => sum + sumOf(each), 0);
  if (total === 0) return <span class="quiet">none</span>;
  return (
    <>
      {total.toLocaleString("en")} <Sparkline series={series} label="by the hour" />
    </>
  );
}
