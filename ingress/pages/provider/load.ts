import { listLastBuildsOfDeliveries } from "../../../shared/builds/rows/build-store.ts";
import { webhookUrlOf } from "../../../shared/pipelines/provider/webhook.ts";
import { findWebhook } from "../../../shared/pipelines/provider/webhook-store.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { refusalRetentionDays } from "../../../shared/triggers/deliveries/refusal-counts.ts";
import { listRefusalCounts } from "../../../shared/triggers/deliveries/refusal-counts-store.ts";
import { listLatestRefused } from "../../../shared/triggers/deliveries/refused-requests.ts";
import { listDeliveriesPage } from "../../../shared/triggers/deliveries/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { type LoadedProvider, loadProvider } from "../address/provider.ts";
import { lastHours } from "../charts/times.ts";
import { loadLeftOut } from "../deliveries/left-out.tsx";
import { maxBuildsOfDelivery } from "../deliveries/list.tsx";
import type { MemberRequest } from "../ui/member-page.ts";

const maxDeliveries = 20;

export type LoadedWebhook = Awaited<ReturnType<typeof loadWebhook>>;

/** The provider of a pipeline and its webhook, if it has one. @throws Refusal 404 */
export async function loadProviderDetails(
  services: Services,
  request: MemberRequest,
): Promise<LoadedProvider & { webhook: LoadedWebhook | undefined }> {
  const loaded = await loadProvider(services, request);
  const row = await findWebhook(services.db, { pipelineId: loaded.pipeline.id });
  return { ...loaded, webhook: row && (await loadWebhook(services, row, loaded.pipeline)) };
}

async function loadWebhook(services: Services, row: Trigger, pipeline: PipelineFacts) {
  const { db, clock } = services;
  const deliveries = await listDeliveriesPage(db, row.id, { limit: maxDeliveries });
  const ids = deliveries.map(({ id }) => id);
  const hours = lastHours(clock.now(), refusalRetentionDays);
  return {
    row,
    url: webhookUrlOf(services, row),
    deliveries,
    leftOut: await loadLeftOut(services, deliveries, () => ({ ...pipeline, type: row.type })),
    builds: await listLastBuildsOfDeliveries(db, ids, maxBuildsOfDelivery),
    hours,
    refusals: await listRefusalCounts(db, row.id, hours[0] ?? clock.now()),
    refusedRequests: await listLatestRefused(services, row.id),
  };
}
