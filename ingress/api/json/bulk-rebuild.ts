import { z } from "zod";
import { only } from "../../../shared/members/only.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { api } from "../../../shared/settings/urls.ts";
import { stateOf } from "../../../shared/triggers/bulk-rebuilds/ask.ts";
import type { BulkRebuild } from "../../../shared/triggers/bulk-rebuilds/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { choiceFilter } from "../filters.ts";
import { answerOf, created } from "../resources/answer.ts";
import { deliveryFilters } from "./delivery.ts";

const statuses = ["build_created", "not_run", "failed"] as const;

export type BulkRebuildOfTrigger = BulkRebuild & { pipeline: PipelineFacts; trigger: Trigger };

export const bulkRebuildAnswer = answerOf<BulkRebuildOfTrigger>("BulkRebuild", {
  id: [field.id, ({ id }) => id],
  url: [
    field.url,
    ({ id, pipeline: { slug }, trigger }, { config, org }) =>
      api.bulkRebuild(config, { org, slug }, trigger.id, id),
  ],
  state: [z.enum(["running", "finished", "canceled"]), stateOf],
  filter: [
    z
      .object({
        status: z.enum(statuses).nullable(),
        event: z.string().nullable(),
        external_id: z.string().nullable(),
        received_from: field.timestamp.nullable(),
        received_to: field.timestamp.nullable(),
      })
      .meta({ description: "As it was asked for. Later deliveries are not among them" }),
    ({ filter }) => ({
      status: filter.status ?? null,
      event: filter.event ?? null,
      external_id: filter.sentAs ?? null,
      received_from: filter.receivedFrom ?? null,
      received_to: filter.receivedTo ?? null,
    }),
  ],
  total: [
    z.int().meta({ description: "Deliveries that matched when it was asked for" }),
    ({ total }) => total,
  ],
  built: [z.int().meta({ description: "Deliveries with a new build" }), ({ built }) => built],
  skipped: [
    z.int().meta({ description: "Deliveries whose payload is no longer kept, or in process" }),
    ({ skipped }) => skipped,
  ],
  failed: [
    z.int().meta({ description: "Deliveries without a new build: a step has no queue to run on" }),
    ({ failed }) => failed,
  ],
  ...created,
  finished_at: [
    field.timestamp.nullable().meta({ description: "Also when it was canceled" }),
    ({ finishedAt }) => finishedAt,
  ],
});

/** Null and blank count as absent. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((given) => (given === null || given === "" ? undefined : given), schema);

const { event, external_id, received_from, received_to } = deliveryFilters;

export const bulkRebuildBody = only("Bulk rebuild", {
  status: optional(choiceFilter("status", statuses)),
  event: optional(event),
  external_id: optional(external_id),
  received_from: optional(received_from),
  received_to: optional(received_to),
});
