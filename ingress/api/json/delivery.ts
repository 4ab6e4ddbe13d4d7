import { z } from "zod";
import {
  type BuildOfDelivery,
  listLastRebuilds,
  listRebuilds,
} from "../../../shared/builds/rows/build-store.ts";
import * as field from "../../../shared/presenters/fields.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api, type PipelineAddress } from "../../../shared/settings/urls.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import type { Payload } from "../../../shared/triggers/payloads/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { visibleHeaders } from "../../../shared/triggers/types.ts";
import { deliveryReasons } from "../../../shared/vocabulary.ts";
import { inBatches } from "../../http/transfers/json-stream.ts";
import { choiceFilter, textFilter, timeFilter } from "../filters.ts";

export const deliveryFilters = {
  status: choiceFilter(
    "status",
    ["build_created", "not_run", "failed", "waiting"],
    "waiting: it is still being processed",
  ),
  event: textFilter("event", "As the sender names it: push"),
  external_id: textFilter("external_id", "The sender's own id, or an Idempotency-Key of the last 24 hours"),
  received_from: timeFilter("received_from"),
  received_to: timeFilter("received_to"),
};

export const deliverySchema = z
  .object({
    id: field.id,
    url: field.url,
    request_url: field.url,
    received_at: field.timestamp,
    content_type: z.string(),
    external_id: z.string().nullable().meta({ description: "The sender's own id of it" }),
    status: z
      .enum(["build_created", "not_run", "failed"])
      .nullable()
      .meta({ description: "Null: it is still being processed" }),
    reason: z.enum(deliveryReasons).nullable(),
    builds: z.array(z.object({ id: field.id, number: z.int(), url: field.url })),
  })
  .meta({ id: "PipelineTriggerDelivery" });

export const deliveryRequestSchema = z.object({
  content_type: z.string(),
  headers: z.array(
    z.object({
      name: z.string(),
      value: z.string().nullable(),
      redacted: z.boolean().meta({ description: "True: there is a value, which is not shown" }),
    }),
  ),
  payload: z.unknown().meta({ description: "The JSON as it came; null once it is no longer kept" }),
});

interface DeliveryContext {
  address: PipelineAddress;
  /** The address of a delivery, by its id. */
  urlOf: (id: string) => string;
}

/** Builds that are read at once. */
const maxBuilds = 500;

/** The items of a list, with commas between them, in parts: a delivery may have been built any number of times. */
export async function* writeDeliveries(
  { db, config }: Services,
  context: DeliveryContext,
  deliveries: readonly Delivery[],
): AsyncGenerator<string> {
  const last = await listLastRebuilds(
    db,
    deliveries.map(({ id }) => id),
  );
  const endOf = ({ id }: Delivery) => (last.get(id) ?? -1) + 1;
  const write = (builds: BuildOfDelivery[]) =>
    builds.map((build) => JSON.stringify(presentBuildOfDelivery(config, context, build))).join(",");

  let comma = "";
  for (const batch of inBatches(deliveries, endOf, maxBuilds)) {
    const below = Math.min(maxBuilds, Math.max(...batch.map(endOf)));
    const ids = batch.map(({ id }) => id);
    const first = below === 0 ? [] : await listRebuilds(db, ids, { from: 0, below });
    const buildsOf = Map.groupBy(first, ({ deliveryId }) => deliveryId);
    for (const delivery of batch) {
      const members = JSON.stringify(presentDelivery(context, delivery)).slice(0, -1);
      let text = write(buildsOf.get(delivery.id) ?? []);
      yield `${comma}${members},"builds":[${text}`;
      comma = ",";
      for (let from = below; from < endOf(delivery); from += maxBuilds) {
        const separator = text === "" ? "" : ",";
        const more = write(await listRebuilds(db, [delivery.id], { from, below: from + maxBuilds }));
        if (more !== "") yield separator + more;
        text ||= more;
      }
      yield "]}";
    }
  }
}

/** Presents all of a delivery but its builds. */
function presentDelivery({ urlOf }: DeliveryContext, delivery: Delivery) {
  const url = urlOf(delivery.id);
  return {
    id: delivery.id,
    url,
    request_url: `${url}/request`,
    received_at: delivery.receivedAt,
    content_type: delivery.contentType,
    external_id: delivery.externalId,
    status: delivery.status,
    reason: delivery.reason,
  };
}

function presentBuildOfDelivery(
  config: Config,
  { address }: DeliveryContext,
  { id, number }: BuildOfDelivery,
) {
  return { id, number, url: api.build(config, address, number) };
}

/** Returns JSON text that holds the payload unparsed, because parsing would change big numbers. */
export function presentDeliveryRequest(
  config: Config,
  trigger: Trigger,
  delivery: Delivery,
  payload: Payload | undefined,
): string {
  const shown = visibleHeaders(config.issueTracker, trigger);
  const headers = (payload?.headers ?? []).map(([name, value]) =>
    shown.has(name.toLowerCase()) && value !== null
      ? { name, value, redacted: false }
      : { name, value: null, redacted: true },
  );
  const body = payload?.body.toString("utf8") ?? "null";
  return `{"content_type":${JSON.stringify(delivery.contentType)},"headers":${JSON.stringify(headers)},"payload":${body}}`;
}
