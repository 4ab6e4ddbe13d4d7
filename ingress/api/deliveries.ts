import { HTTPResponse } from "h3";
import { storageFull } from "../../shared/accounts/storage.ts";
import { patterns } from "../../shared/paths.ts";
import type { PipelineFacts } from "../../shared/pipelines/store.ts";
import type { Services } from "../../shared/services/services.ts";
import type { Config } from "../../shared/settings/config.ts";
import { api, type PipelineAddress } from "../../shared/settings/urls.ts";
import { searchDeliveries } from "../../shared/triggers/deliveries/list.ts";
import { rebuildDelivery } from "../../shared/triggers/deliveries/rebuild.ts";
import type { Delivery } from "../../shared/triggers/deliveries/store.ts";
import { findPayload } from "../../shared/triggers/payloads/store.ts";
import type { Trigger } from "../../shared/triggers/store.ts";
import { requireDelivery } from "../../shared/triggers/triggers.ts";
import { readCursorPage } from "../http/cursor-pager.ts";
import { admitDownload } from "../http/downloads.ts";
import { answerJson } from "../http/transfers/json-stream.ts";
import { type Call, type Operation, operation } from "../operations/operation.ts";
import { readFilters, toDate } from "./filters.ts";
import { holderOf } from "./holder.ts";
import {
  deliveryFilters,
  deliveryRequestSchema,
  deliverySchema,
  presentDeliveryRequest,
  writeDeliveries,
} from "./json/delivery.ts";
import { cursorPageSchema, cursorQuery, inCursorPage, presentCursorPage } from "./json/list.ts";
import { triggerOf } from "./triggers.ts";

/** The deliveries of a trigger, at the addresses of its triggers or of its pipeline's provider. */
export function deliveryOperations(services: Services): Operation[] {
  return deliveryOperationsOf(services, {
    tag: "Pipeline triggers (public preview)",
    paths: {
      list: patterns.deliveries,
      one: patterns.delivery,
      request: patterns.deliveryRequest,
      rebuild: patterns.rebuild,
    },
    ids: {
      list: "listDeliveries",
      one: "getDelivery",
      request: "getDeliveryRequest",
      rebuild: "rebuildDelivery",
    },
    summaries: {
      list: "The deliveries of a trigger, newest first",
      rebuild: "Build a delivery again by the trigger's present settings, without its filter",
    },
    ownerOf: (call) => triggerOf(services, call),
    urlOf: (config, address, trigger, delivery) => api.delivery(config, address, trigger.id, delivery),
  });
}

type Address = Pick<Call<unknown>, "caller" | "parameter">;
type Names = Record<"list" | "one" | "request" | "rebuild", string>;

/** A trigger, or the webhook of a provider. */
interface DeliveryOwners {
  tag: string;
  paths: Names;
  ids: Names;
  summaries: Pick<Names, "list" | "rebuild">;
  /** @throws Refusal 404 */
  ownerOf(call: Address): Promise<{ pipeline: PipelineFacts; trigger: Trigger }>;
  urlOf(config: Config, address: PipelineAddress, trigger: Trigger, delivery: string): string;
}

export function deliveryOperationsOf(
  services: Services,
  { tag, paths, ids, summaries, ownerOf, urlOf }: DeliveryOwners,
): Operation[] {
  const { db, config } = services;
  const reading = { tag, scope: "read_pipelines" as const };

  const deliveryOf = async (call: Address) => {
    const owner = await ownerOf(call);
    return { ...owner, delivery: await requireDelivery(db, owner.trigger, call.parameter("delivery")) };
  };
  const write = (
    { caller }: Pick<Call<unknown>, "caller">,
    { pipeline, trigger }: { pipeline: PipelineFacts; trigger: Trigger },
    deliveries: Delivery[],
  ) => {
    const address = { org: caller.organization.slug, slug: pipeline.slug };
    const context = { address, urlOf: (id: string) => urlOf(config, address, trigger, id) };
    return writeDeliveries(services, context, deliveries);
  };

  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: paths.list,
      id: ids.list,
      summary: summaries.list,
      query: { ...cursorQuery, ...deliveryFilters },
      refusals: { 422: ["Validation failed: …"] },
      success: { status: 200, schema: cursorPageSchema(deliverySchema), description: "A page of deliveries" },
      run: async (call) => {
        const owner = await ownerOf(call);
        const page = readCursorPage(call.event);
        const { status, event, external_id, received_from, received_to } = readFilters(
          call.event,
          deliveryFilters,
        );
        const rows = await searchDeliveries(services, owner.trigger.id, page, {
          status,
          event,
          sentAs: external_id,
          receivedFrom: toDate(received_from),
          receivedTo: toDate(received_to),
        });
        const present = (row: Delivery) => row;
        const { items, links } = presentCursorPage(call.event, page, rows, { base: config.baseUrl, present });
        const parts = inCursorPage(write(call, owner, items), links);
        return answerJson(call.event, holderOf(call.caller), parts);
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: paths.one,
      id: ids.one,
      summary: "A delivery",
      success: { status: 200, schema: deliverySchema, description: "The delivery" },
      run: async (call) => {
        const { delivery, ...owner } = await deliveryOf(call);
        return answerJson(call.event, holderOf(call.caller), write(call, owner, [delivery]));
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: paths.request,
      id: ids.request,
      summary: "The request that a delivery came with",
      success: { status: 200, schema: deliveryRequestSchema, description: "Headers and payload" },
      run: async (call) => {
        const { trigger, delivery } = await deliveryOf(call);
        admitDownload(call.event, { ...holderOf(call.caller), bytes: delivery.size });
        const payload = await findPayload(db, delivery.id);
        return new HTTPResponse(presentDeliveryRequest(config, trigger, delivery, payload), {
          headers: { "content-type": "application/json;charset=UTF-8", "cache-control": "private, no-store" },
        });
      },
    }),
    operation({
      tag,
      scope: "write_builds",
      methods: ["POST"],
      path: paths.rebuild,
      id: ids.rebuild,
      summary: summaries.rebuild,
      success: { status: 201, schema: deliverySchema, description: "The delivery, with its new build" },
      refusals: {
        422: [
          "The payload of this delivery is no longer kept",
          "The delivery is still being processed",
          "The pipeline cannot build: a step has no queue to run on",
          storageFull,
        ],
      },
      run: async (call) => {
        const { delivery, ...owner } = await deliveryOf(call);
        await rebuildDelivery(services, call.actor, { ...owner, delivery });
        const parts = write(call, owner, [delivery]);
        return answerJson(call.event, holderOf(call.caller), parts, { status: 201, isOfChange: true });
      },
    }),
  ];
}
