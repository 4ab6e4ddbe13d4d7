import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { listLastBuildsOfDeliveries } from "../../../shared/builds/rows/build-store.ts";
import { listFigures } from "../../../shared/figures/store.ts";
import { isId } from "../../../shared/ids.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { findLatestBulkRebuild } from "../../../shared/triggers/bulk-rebuilds/store.ts";
import { environmentOf, lastTwoOf, secretOf } from "../../../shared/triggers/columns.ts";
import { deliveriesUsed } from "../../../shared/triggers/deliveries/limit.ts";
import { searchDeliveries } from "../../../shared/triggers/deliveries/list.ts";
import { refusalRetentionDays } from "../../../shared/triggers/deliveries/refusal-counts.ts";
import { listRefusalCounts } from "../../../shared/triggers/deliveries/refusal-counts-store.ts";
import { listLatestRefused } from "../../../shared/triggers/deliveries/refused-requests.ts";
import {
  findDelivery,
  listDeliveriesPage,
  listLastDeliveries,
} from "../../../shared/triggers/deliveries/store.ts";
import { maxLatestToTry } from "../../../shared/triggers/filter/filter-tests.ts";
import { findFilterMisses } from "../../../shared/triggers/filter/misses-store.ts";
import { findPayloadStart } from "../../../shared/triggers/payloads/store.ts";
import { listTriggersInBrief, type Trigger } from "../../../shared/triggers/store.ts";
import { typeOfTrigger } from "../../../shared/triggers/types.ts";
import { readIdPage, splitPage } from "../../http/cursor-pager.ts";
import { loadPipelineOfTriggers, loadTrigger } from "../address/trigger.ts";
import { sumOf } from "../charts/bars.ts";
import { deliverySeries, refusedSeries } from "../charts/deliveries.ts";
import { lastHours } from "../charts/times.ts";
import { maxBuildsOfDelivery } from "../deliveries/list.tsx";
import { readDeliverySearch } from "../deliveries/search.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { maxListedBytes } from "./payload-tree.tsx";

/** Query parameters of the trigger page. */
export const deliveryCursors = { older: "after", newer: "before" };
const deliveriesPerPage = 20;
const maxAuditEntries = 10;
/** A pipeline has fewer. */
const maxTriggers = 100;

/** The triggers of a pipeline, newest first, with the last delivery and the deliveries by the hour of each. */
export async function loadTriggers(services: Services, request: MemberRequest) {
  const { db, clock } = services;
  const pipeline = await loadPipelineOfTriggers(services, request);
  const triggers = await listTriggersInBrief(db, pipeline.id, maxTriggers);
  const ids = triggers.map(({ id }) => id);
  const hours = lastHours(clock.now(), refusalRetentionDays);
  const figures = Map.groupBy(await listFigures(db, ids, hours[0] ?? clock.now()), (row) => row.subjectId);
  const seriesOf = ({ id }: Pick<Trigger, "id">) => deliverySeries(hours, figures.get(id) ?? []);
  return { pipeline, triggers, lastDeliveries: await listLastDeliveries(db, ids), seriesOf };
}

export type EditedTrigger = Awaited<ReturnType<typeof loadEditedTrigger>>;

/** A trigger, and as much of its secrets as the form shows. `secretEnd` is undefined without a secret. */
export async function loadEditedTrigger(services: Services, request: MemberRequest) {
  const { config, cipher } = services;
  const loaded = await loadTrigger(services, request);
  const { trigger } = loaded;
  const secret = secretOf(cipher, trigger);
  return {
    ...loaded,
    type: typeOfTrigger(config.issueTracker, trigger),
    variables: Object.keys(environmentOf(cipher, trigger)),
    secretEnd: secret && lastTwoOf(secret),
  };
}

export type TriggerDetails = Awaited<ReturnType<typeof loadTriggerDetails>>;

/** @throws Refusal 404 */
export async function loadTriggerDetails(services: Services, request: MemberRequest) {
  const { db, config, cipher } = services;
  const { organization } = request;
  const { pipeline, trigger } = await loadTrigger(services, request);
  const subjects = { types: ["trigger"], ids: [trigger.id] };
  return {
    pipeline,
    trigger,
    type: typeOfTrigger(config.issueTracker, trigger),
    canFilter: organization.features.includes("webhook_filtering"),
    variables: Object.keys(environmentOf(cipher, trigger)),
    users: await listUsersById(db, [trigger.createdById]),
    ...(await loadDeliveries(services, request, trigger)),
    latestRebuild: await findLatestBulkRebuild(db, trigger.id),
    limit: await deliveriesUsed(services, organization),
    filterMisses: await findFilterMisses(db, trigger),
    ...(await loadCharts(services, trigger)),
    refusedRequests: await listLatestRefused(services, trigger.id),
    auditEntries: await listAuditEvents(db, { organizationId: organization.id, subjects }, maxAuditEntries),
  };
}

/** Deliveries and refusals of each hour. */
async function loadCharts({ db, clock }: Services, { id }: Trigger) {
  const hours = lastHours(clock.now(), refusalRetentionDays);
  const [since = clock.now()] = hours;
  const refusals = await listRefusalCounts(db, id, since);
  const figures = await listFigures(db, [id], since);
  const series = [...deliverySeries(hours, figures), refusedSeries(hours, refusals)];
  return { hours, refusals, series, hasFigures: series.some((each) => sumOf(each) > 0) };
}

async function loadDeliveries(services: Services, { event }: MemberRequest, { id }: Trigger) {
  const { db } = services;
  const request = readIdPage(event, deliveryCursors, deliveriesPerPage);
  const { search, filter } = readDeliverySearch(event);
  const found = await searchDeliveries(services, id, request, filter);
  const page = splitPage(request, found, (delivery) => delivery.id);
  const ids = page.rows.map((delivery) => delivery.id);
  return {
    page,
    search,
    deliveries: page.rows,
    builds: await listLastBuildsOfDeliveries(db, ids, maxBuildsOfDelivery),
  };
}

/**
 * The latest deliveries, to try a filter on.
 * @throws Refusal 403 without the feature
 */
export function loadDeliveriesToTry({ db }: Services, { organization }: MemberRequest, { id }: Trigger) {
  if (!organization.features.includes("webhook_filtering"))
    throw new Refusal(403, "Filters are not available to this organization.");
  return listDeliveriesPage(db, id, { limit: maxLatestToTry });
}

/** The payload of one of the trigger's deliveries. Undefined if it is no longer kept, or not this trigger's. */
export async function loadPayloadToTry({ db }: Services, { id: triggerId }: Trigger, deliveryId: string) {
  const delivery = isId(deliveryId) ? await findDelivery(db, triggerId, deliveryId) : undefined;
  return delivery && findPayloadStart(db, delivery.id, maxListedBytes);
}
