import { storageFull } from "../../shared/accounts/storage.ts";
import { listUsersById } from "../../shared/accounts/user-store.ts";
import { newId } from "../../shared/ids.ts";
import { patterns } from "../../shared/paths.ts";
import type { PipelineFacts } from "../../shared/pipelines/store.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import {
  askForBulkRebuild,
  cancelBulkRebuild,
  requireBulkRebuild,
} from "../../shared/triggers/bulk-rebuilds/ask.ts";
import { type BulkRebuild, listBulkRebuildsPage } from "../../shared/triggers/bulk-rebuilds/store.ts";
import type { Trigger } from "../../shared/triggers/store.ts";
import { readCursorPage } from "../http/cursor-pager.ts";
import { type Call, type Operation, operation } from "../operations/operation.ts";
import { toDate } from "./filters.ts";
import { bulkRebuildBody, bulkRebuildSchema, presentBulkRebuild } from "./json/bulk-rebuild.ts";
import { cursorPageSchema, cursorQuery, presentCursorPage } from "./json/list.ts";
import { triggerOf } from "./triggers.ts";

const tag = "Pipeline triggers (public preview)";
const reading = { tag, scope: "read_pipelines" as const };
const writing = { tag, scope: "write_builds" as const };

export function bulkRebuildOperations(services: Services): Operation[] {
  const { db, config, clock } = services;

  const bulkRebuildOf = async (call: Pick<Call<unknown>, "caller" | "parameter">) => {
    const owner = await triggerOf(services, call);
    return { ...owner, bulk: await requireBulkRebuild(services, owner.trigger, call.parameter("rebuild")) };
  };
  const presenter = async (
    call: Pick<Call<unknown>, "caller">,
    { pipeline, trigger }: { pipeline: PipelineFacts; trigger: Trigger },
    bulks: BulkRebuild[],
  ) => {
    const users = await listUsersById(
      db,
      bulks.map(({ createdById }) => createdById),
    );
    const address = { org: call.caller.organization.slug, slug: pipeline.slug };
    return (bulk: BulkRebuild) => presentBulkRebuild({ config, address, trigger, users }, bulk);
  };

  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.bulkRebuilds,
      id: "listBulkRebuilds",
      summary: "The bulk rebuilds of a trigger, newest first",
      query: cursorQuery,
      success: {
        status: 200,
        schema: cursorPageSchema(bulkRebuildSchema),
        description: "A page of bulk rebuilds",
      },
      run: async (call) => {
        const owner = await triggerOf(services, call);
        const page = readCursorPage(call.event);
        const rows = await listBulkRebuildsPage(db, owner.trigger.id, page);
        const present = await presenter(call, owner, rows);
        return presentCursorPage(call.event, page, rows, { base: config.baseUrl, present });
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.bulkRebuilds,
      id: "createBulkRebuild",
      summary: "Build the matching deliveries of a trigger again; without filters, all of them",
      body: { schema: bulkRebuildBody, isOptional: true },
      success: { status: 201, schema: bulkRebuildSchema, description: "It runs from now on" },
      refusals: {
        422: [
          "Validation failed: …",
          "No delivery matches",
          "More than 10,000 deliveries match. At most 10,000 can be built again at once: add an earliest and a latest time",
          "There are too many deliveries to look through: add an earliest and a latest time",
          "Deliveries of this trigger are being built again already. Wait until that has finished, or cancel it",
          "Deliveries of 3 triggers of the organization are being built again. Wait until one has finished",
          storageFull,
        ],
      },
      run: async (call) => {
        const owner = await triggerOf(services, call);
        const { status, event, external_id, received_from, received_to } = await call.readBody();
        const search = {
          status,
          event,
          sentAs: external_id,
          receivedFrom: toDate(received_from),
          receivedTo: toDate(received_to),
        };
        const wanted = { id: newId(clock.now()), search };
        const bulk = await askForBulkRebuild(services, call.actor, owner.trigger, wanted);
        return (await presenter(call, owner, [bulk]))(bulk);
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.bulkRebuild,
      id: "getBulkRebuild",
      summary: "A bulk rebuild, and how far it is",
      success: { status: 200, schema: bulkRebuildSchema, description: "The bulk rebuild" },
      run: async (call) => {
        const { bulk, ...owner } = await bulkRebuildOf(call);
        return (await presenter(call, owner, [bulk]))(bulk);
      },
    }),
    operation({
      ...writing,
      methods: ["PUT"],
      path: patterns.cancelBulkRebuild,
      id: "cancelBulkRebuild",
      summary: "Cancel a bulk rebuild; the builds that it made stay",
      success: { status: 200, schema: bulkRebuildSchema, description: "The canceled bulk rebuild" },
      refusals: { 422: ["Bulk rebuild cannot be canceled: it has finished already"] },
      run: async (call) => {
        const { bulk, ...owner } = await bulkRebuildOf(call);
        const canceled = await cancelBulkRebuild(services, call.actor, owner.trigger, bulk);
        if (!canceled) throw new Refusal(422, "Bulk rebuild cannot be canceled: it has finished already");
        return (await presenter(call, owner, [canceled]))(canceled);
      },
    }),
  ];
}
