import { z } from "zod";
import type { User } from "../../../shared/accounts/user-store.ts";
import { only } from "../../../shared/members/only.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { presentUserById, userSchema } from "../../../shared/presenters/user.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api, type PipelineAddress } from "../../../shared/settings/urls.ts";
import { stateOf } from "../../../shared/triggers/bulk-rebuilds/ask.ts";
import type { BulkRebuild } from "../../../shared/triggers/bulk-rebuilds/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { choiceFilter } from "../filters.ts";
import { deliveryFilters } from "./delivery.ts";

const statuses = ["build_created", "not_run", "failed"] as const;

export const bulkRebuildSchema = z
  .object({
    id: field.id,
    url: field.url,
    state: z.enum(["running", "finished", "canceled"]),
    filter: z
      .object({
        status: z.enum(statuses).nullable(),
        event: z.string().nullable(),
        external_id: z.string().nullable(),
        received_from: field.timestamp.nullable(),
        received_to: field.timestamp.nullable(),
      })
      .meta({ description: "As it was asked for. Later deliveries are not among them" }),
    total: z.int().meta({ description: "Deliveries that matched when it was asked for" }),
    built: z.int().meta({ description: "Deliveries with a new build" }),
    skipped: z.int().meta({ description: "Deliveries whose payload is no longer kept, or in process" }),
    failed: z.int().meta({ description: "Deliveries without a new build: a step has no queue to run on" }),
    created_at: field.timestamp,
    created_by: userSchema,
    finished_at: field.timestamp.nullable().meta({ description: "Also when it was canceled" }),
  })
  .meta({ id: "BulkRebuild" });

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

interface BulkRebuildContext {
  config: Config;
  address: PipelineAddress;
  trigger: Trigger;
  /** At least those who asked for it. */
  users: ReadonlyMap<string, User>;
}

export function presentBulkRebuild(
  { config, address, trigger, users }: BulkRebuildContext,
  bulk: BulkRebuild,
) {
  const { filter } = bulk;
  return {
    id: bulk.id,
    url: api.bulkRebuild(config, address, trigger.id, bulk.id),
    state: stateOf(bulk),
    filter: {
      status: filter.status ?? null,
      event: filter.event ?? null,
      external_id: filter.sentAs ?? null,
      received_from: filter.receivedFrom ?? null,
      received_to: filter.receivedTo ?? null,
    },
    total: bulk.total,
    built: bulk.built,
    skipped: bulk.skipped,
    failed: bulk.failed,
    created_at: bulk.createdAt,
    created_by: presentUserById(config, users, bulk.createdById),
    finished_at: bulk.finishedAt,
  };
}
