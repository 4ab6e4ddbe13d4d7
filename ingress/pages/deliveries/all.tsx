import { listLastBuildsOfDeliveries } from "../../../shared/builds/rows/build-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import { listDeliveriesOfOrganization } from "../../../shared/triggers/payloads/deliveries-store.ts";
import { listPipelinesOfTriggers, type TriggerWithPipeline } from "../../../shared/triggers/store.ts";
import { linkIdPages, readIdPage, splitPage } from "../../http/cursor-pager.ts";
import { queryOf } from "../search/read.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import { CursorPager } from "../ui/pager.tsx";
import { loadLeftOut } from "./left-out.tsx";
import { Deliveries, maxBuildsOfDelivery } from "./list.tsx";
import { loadRefused, RefusedRequests } from "./refused.tsx";
import { DeliverySearchForm, readDeliverySearch } from "./search.tsx";
import { loadUse, Use } from "./use.tsx";

const cursors = { older: "after", newer: "before" };
const perPage = 30;

/** GET /organizations/:org/deliveries: of all triggers and providers, newest first. */
export const deliveriesPage = memberPage(async (services, request) => {
  const { organization } = request;
  const org = organization.slug;
  const path = pathTo(patterns.deliveriesPage, { org });
  const { search, page, builds, triggers, leftOut } = await loadDeliveries(services, request);
  const links = linkIdPages(path, cursors, page, queryOf(search));
  const isSearching = `${queryOf(search)}` !== "";
  const placeOf = ({ triggerId }: Delivery) => {
    const trigger = triggers.get(triggerId);
    return trigger && !trigger.deletedAt ? { org, slug: trigger.slug, trigger: triggerId } : undefined;
  };
  const isWhole = page.isFirst && !isSearching;
  const use = isWhole ? await loadUse(services, organization) : undefined;
  const refused = isWhole ? await loadRefused(services, organization) : [];
  const triggerIds = new Set([...triggers.keys(), ...refused.map(({ triggerId }) => triggerId)]);
  return {
    title: "Deliveries",
    section: "deliveries",
    topics: [...triggerIds].map((id) => `trigger:${id}` as const),
    content: (
      <>
        <h1>Deliveries</h1>
        {use && <Use use={use} />}
        <RefusedRequests counts={refused} org={org} isOpen={page.rows.length === 0} />
        <DeliverySearchForm search={search} path={path} hasEvents />
        {page.rows.length > 0 ? (
          <Deliveries
            deliveries={page.rows}
            builds={builds}
            placeOf={placeOf}
            leftOut={leftOut}
            nameTrigger={(delivery) => <TriggerName trigger={triggers.get(delivery.triggerId)} org={org} />}
          />
        ) : isSearching ? (
          <p class="empty">
            No delivery matches. <a href={path}>Show all deliveries</a>
          </p>
        ) : (
          <p class="empty">
            Nothing has come yet. The triggers of{" "}
            <a href={pathTo(patterns.pipelinesPage, { org })}>pipelines</a> have the addresses that senders
            post to.
          </p>
        )}
        <CursorPager label="Pages of deliveries" links={{ Newer: links.newer, Older: links.older }} />
        {page.rows.length > 0 && !links.older && (
          <p class="quiet">Older deliveries, whose payloads are gone, are on the pages of their triggers.</p>
        )}
      </>
    ),
  };
});

function TriggerName({ trigger, org }: { trigger: TriggerWithPipeline | undefined; org: string }) {
  if (!trigger) return null;
  const { id, label, slug, name, isProvider, deletedAt } = trigger;
  const pattern = isProvider ? patterns.providerPage : patterns.triggerPage;
  return (
    <span class="trigger" title={`${label} of ${name}`}>
      {deletedAt ? label : <a href={pathTo(pattern, { org, slug, trigger: id })}>{label}</a>} of {name}
    </span>
  );
}

async function loadDeliveries(services: Services, { organization, event }: MemberRequest) {
  const { db } = services;
  const { search, filter } = readDeliverySearch(event);
  const { sentAs: externalId, ...rest } = filter;
  const cursor = readIdPage(event, cursors, perPage);
  const found = await listDeliveriesOfOrganization(db, organization.id, cursor, { ...rest, externalId });
  const page = splitPage(cursor, found, ({ id }) => id);
  const ids = page.rows.map(({ id }) => id);
  const triggerIds = [...new Set(page.rows.map(({ triggerId }) => triggerId))];
  const triggers = await listPipelinesOfTriggers(db, triggerIds);
  const receiverOf = ({ triggerId }: Delivery) => {
    const trigger = triggers.get(triggerId);
    return trigger?.isProvider ? trigger : undefined;
  };
  return {
    search,
    page,
    triggers,
    leftOut: await loadLeftOut(services, page.rows, receiverOf),
    builds: await listLastBuildsOfDeliveries(db, ids, maxBuildsOfDelivery),
  };
}
