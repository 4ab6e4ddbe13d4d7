import { storageFull } from "../../shared/accounts/storage.ts";
import { newId } from "../../shared/ids.ts";
import { patterns } from "../../shared/paths.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import {
  askForBulkRebuild,
  cancelBulkRebuild,
  requireBulkRebuild,
} from "../../shared/triggers/bulk-rebuilds/ask.ts";
import { listBulkRebuildsPage } from "../../shared/triggers/bulk-rebuilds/store.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { toDate } from "./filters.ts";
import { type BulkRebuildOfTrigger, bulkRebuildAnswer, bulkRebuildBody } from "./json/bulk-rebuild.ts";
import { resourceOperations } from "./resources/operations.ts";
import { triggerOf } from "./triggers.ts";

/** The bulk rebuilds of a trigger. */
export function bulkRebuildOperations(services: Services): Operation[] {
  const { db, clock } = services;
  const { operations, writing, find, presentOne } = resourceOperations(services, {
    tag: "Pipeline triggers (public preview)",
    scopes: { reading: "read_pipelines", writing: "write_builds" },
    isForMembers: true,
    paths: { list: patterns.bulkRebuilds, one: patterns.bulkRebuild },
    json: bulkRebuildAnswer,
    ownerOf: (call) => triggerOf(services, call),
    find: async (owner, { parameter }): Promise<BulkRebuildOfTrigger> => {
      return { ...(await requireBulkRebuild(services, owner.trigger, parameter("rebuild"))), ...owner };
    },
    list: {
      id: "listBulkRebuilds",
      summary: "The bulk rebuilds of a trigger, newest first",
      answer: "A page of bulk rebuilds",
      readFrom: async (owner, page) =>
        (await listBulkRebuildsPage(db, owner.trigger.id, page)).map((bulk) => ({ ...bulk, ...owner })),
    },
    create: {
      id: "createBulkRebuild",
      summary: "Build the matching deliveries of a trigger again; without filters, all of them",
      answer: "It runs from now on",
      refusals: [
        "Validation failed: …",
        "No delivery matches",
        "More than 10,000 deliveries match. At most 10,000 can be built again at once: add an earliest and a latest time",
        "There are too many deliveries to look through: add an earliest and a latest time",
        "Deliveries of this trigger are being built again already. Wait until that has finished, or cancel it",
        "Deliveries of 3 triggers of the organization are being built again. Wait until one has finished",
        storageFull,
      ],
      body: bulkRebuildBody,
      isBodyOptional: true,
      run: async ({ actor, readBody }, owner) => {
        const { status, event, external_id, received_from, received_to } = await readBody();
        const search = {
          status,
          event,
          sentAs: external_id,
          receivedFrom: toDate(received_from),
          receivedTo: toDate(received_to),
        };
        const wanted = { id: newId(clock.now()), search };
        return { ...(await askForBulkRebuild(services, actor, owner.trigger, wanted)), ...owner };
      },
    },
    get: {
      id: "getBulkRebuild",
      summary: "A bulk rebuild, and how far it is",
      answer: "The bulk rebuild",
    },
  });

  return [
    ...operations,
    operation({
      ...writing,
      methods: ["PUT"],
      path: patterns.cancelBulkRebuild,
      id: "cancelBulkRebuild",
      summary: "Cancel a bulk rebuild; the builds that it made stay",
      success: { status: 200, schema: bulkRebuildAnswer.schema, description: "The canceled bulk rebuild" },
      refusals: { 422: ["Bulk rebuild cannot be canceled: it has finished already"] },
      run: async (call) => {
        const { pipeline, trigger, ...bulk } = await find(call);
        const canceled = await cancelBulkRebuild(services, call.actor, trigger, bulk);
        if (!canceled) throw new Refusal(422, "Bulk rebuild cannot be canceled: it has finished already");
        return presentOne(call, { ...canceled, pipeline, trigger });
      },
    }),
  ];
}
