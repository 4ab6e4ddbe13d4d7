import { z } from "zod";
import { storageFull } from "../../shared/accounts/storage.ts";
import { listUsersById } from "../../shared/accounts/user-store.ts";
import { readSound } from "../../shared/members/bodies.ts";
import type { Request } from "../../shared/members/member.ts";
import { patterns } from "../../shared/paths.ts";
import type { PipelineFacts } from "../../shared/pipelines/store.ts";
import type { Services } from "../../shared/services/services.ts";
import { createTrigger } from "../../shared/triggers/create.ts";
import { requireRoomToTest, testFilter } from "../../shared/triggers/filter/filter-tests.ts";
import { newTrigger, triggerChange, triggerMembers, triggerObjects } from "../../shared/triggers/members.ts";
import { newTriggerProblems, triggerChangeProblems } from "../../shared/triggers/problems.ts";
import { listTriggersPage, type Trigger } from "../../shared/triggers/store.ts";
import { deleteTrigger, requireTrigger, updateTrigger } from "../../shared/triggers/triggers.ts";
import { readCursorPage } from "../http/cursor-pager.ts";
import { type Call, type Operation, operation } from "../operations/operation.ts";
import { cursorPageSchema, cursorQuery, presentCursorPage } from "./json/list.ts";
import { filterTestBody, presentTrigger, triggerSchema, userIdsOfTrigger } from "./json/trigger.ts";
import { pipelineOf } from "./pipelines.ts";

const tag = "Pipeline triggers (public preview)";
const reading = { tag, scope: "read_pipelines" as const };
const writing = { tag, scope: "write_pipelines" as const };

export function triggerOperations(services: Services): Operation[] {
  const { db, config, cipher } = services;

  const read = (when: Request, sound: Record<string, unknown>) =>
    readSound(triggerMembers, when, sound, triggerObjects[when]);
  const presenter = async (
    call: Pick<Call<unknown>, "caller">,
    pipeline: PipelineFacts,
    triggers: Trigger[],
  ) => {
    const users = await listUsersById(db, triggers.flatMap(userIdsOfTrigger));
    const context = { config, cipher, org: call.caller.organization.slug, pipeline, users };
    return (trigger: Trigger, token?: string) => presentTrigger(context, trigger, token);
  };
  const presentOne = async (
    call: Pick<Call<unknown>, "caller">,
    pipeline: PipelineFacts,
    trigger: Trigger,
    token?: string,
  ) => (await presenter(call, pipeline, [trigger]))(trigger, token);

  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.triggers,
      id: "listTriggers",
      summary: "The triggers of a pipeline, newest first",
      query: cursorQuery,
      success: { status: 200, schema: cursorPageSchema(triggerSchema), description: "A page of triggers" },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const page = readCursorPage(call.event);
        const rows = await listTriggersPage(db, pipeline.id, page);
        const present = await presenter(call, pipeline, rows);
        return presentCursorPage(call.event, page, rows, {
          base: config.baseUrl,
          present: (row) => present(row),
        });
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.triggers,
      id: "createTrigger",
      summary: "Create a trigger; its URL is in this answer only",
      body: { schema: newTrigger },
      success: { status: 201, schema: triggerSchema, description: "The new trigger, with endpoint_url" },
      refusals: {
        422: ["Validation failed: …", "Pipeline has reached its limit of 10 triggers", storageFull],
      },
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const input = await call.readBody((sound: Record<string, unknown>) =>
          newTriggerProblems(config, call.actor, read("create", sound)),
        );
        const created = await createTrigger(services, call.actor, pipeline, input);
        return presentOne(call, pipeline, created.trigger, created.token);
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.trigger,
      id: "getTrigger",
      summary: "A trigger",
      success: { status: 200, schema: triggerSchema, description: "The trigger" },
      run: async (call) => {
        const { pipeline, trigger } = await triggerOf(services, call);
        return presentOne(call, pipeline, trigger);
      },
    }),
    operation({
      ...writing,
      methods: ["PATCH"],
      path: patterns.trigger,
      id: "updateTrigger",
      summary: "Change a trigger; absent members stay, and so does its type",
      body: { schema: triggerChange },
      success: { status: 200, schema: triggerSchema, description: "The changed trigger" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const { pipeline, trigger } = await triggerOf(services, call);
        const change = await call.readBody((sound: Record<string, unknown>) =>
          triggerChangeProblems(config, call.actor, trigger, read("change", sound)),
        );
        const updated = await updateTrigger(services, call.actor, trigger, change);
        return presentOne(call, pipeline, updated);
      },
    }),
    operation({
      ...writing,
      methods: ["DELETE"],
      path: patterns.trigger,
      id: "deleteTrigger",
      summary: "Delete a trigger: its URL answers 404 at once",
      success: { status: 204, description: "The trigger is gone" },
      run: async (call) => {
        const { trigger } = await triggerOf(services, call);
        await deleteTrigger(services, call.actor, trigger);
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.filterTest,
      id: "testFilter",
      summary: "Try a filter on a delivery that came earlier",
      body: { schema: filterTestBody },
      success: {
        status: 200,
        schema: z.object({
          result: z
            .boolean()
            .nullable()
            .meta({ description: "True: the delivery would build; null: an error" }),
          error: z.string().optional(),
        }),
        description: "The filter's answer for the delivery",
      },
      refusals: {
        422: ["Validation failed: …", "The payload of this delivery is no longer kept"],
        429: ["one test of the organization runs and two wait: wait as Retry-After says"],
      },
      run: async (call) => {
        const { id: organizationId } = call.caller.organization;
        requireRoomToTest(organizationId);
        const { trigger } = await triggerOf(services, call);
        const { expression, delivery_id } = await call.readBody();
        const test = { organizationId, trigger, expression, deliveryId: delivery_id };
        const outcome = await testFilter(services, test, call.event.req.signal);
        return "error" in outcome ? { result: null, error: outcome.error } : { result: outcome.verdict };
      },
    }),
  ];
}

/** Finds the trigger of the path and its pipeline. @throws Refusal 404 */
export async function triggerOf(
  services: Services,
  call: Pick<Call<unknown>, "caller" | "parameter">,
): Promise<{ pipeline: PipelineFacts; trigger: Trigger }> {
  const pipeline = await pipelineOf(services, call);
  return { pipeline, trigger: await requireTrigger(services.db, pipeline, call.parameter("trigger")) };
}
