import { z } from "zod";
import { storageFull } from "../../shared/accounts/storage.ts";
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
import { type Call, type Operation, operation } from "../operations/operation.ts";
import { filterTestBody, type TriggerOfPipeline, triggerAnswer } from "./json/trigger.ts";
import { pipelineOf } from "./pipelines.ts";
import { resourceOperations } from "./resources/operations.ts";

export function triggerOperations(services: Services): Operation[] {
  const { db, config } = services;
  const read = (when: Request, sound: Record<string, unknown>) =>
    readSound(triggerMembers, when, sound, triggerObjects[when]);
  const { operations, writing } = resourceOperations(services, {
    tag: "Pipeline triggers (public preview)",
    scopes: { reading: "read_pipelines", writing: "write_pipelines" },
    isForMembers: true,
    paths: { list: patterns.triggers, one: patterns.trigger },
    json: triggerAnswer(services),
    ownerOf: (call) => pipelineOf(services, call),
    find: async (pipeline, { parameter }): Promise<TriggerOfPipeline> => {
      return { ...(await requireTrigger(db, pipeline, parameter("trigger"))), pipeline };
    },
    list: {
      id: "listTriggers",
      summary: "The triggers of a pipeline, newest first",
      answer: "A page of triggers",
      readFrom: async (pipeline, page) =>
        (await listTriggersPage(db, pipeline.id, page)).map((trigger) => ({ ...trigger, pipeline })),
    },
    create: {
      id: "createTrigger",
      summary: "Create a trigger; its URL is in this answer only",
      answer: "The new trigger, with endpoint_url",
      refusals: ["Validation failed: …", "Pipeline has reached its limit of 10 triggers", storageFull],
      body: newTrigger,
      run: async ({ actor, readBody }, pipeline) => {
        const input = await readBody((sound: Record<string, unknown>) =>
          newTriggerProblems(config, actor, read("create", sound)),
        );
        const { trigger, token } = await createTrigger(services, actor, pipeline, input);
        return { ...trigger, pipeline, token };
      },
    },
    get: { id: "getTrigger", summary: "A trigger", answer: "The trigger" },
    update: {
      id: "updateTrigger",
      summary: "Change a trigger; absent members stay, and so does its type",
      answer: "The changed trigger",
      methods: ["PATCH"],
      body: triggerChange,
      run: async ({ actor, readBody }, { pipeline, ...trigger }) => {
        const change = await readBody((sound: Record<string, unknown>) =>
          triggerChangeProblems(config, actor, trigger, read("change", sound)),
        );
        return { ...(await updateTrigger(services, actor, trigger, change)), pipeline };
      },
    },
    delete: {
      id: "deleteTrigger",
      summary: "Delete a trigger: its URL answers 404 at once",
      answer: "The trigger is gone",
      run: async ({ actor }, trigger) => void (await deleteTrigger(services, actor, trigger)),
    },
  });

  return [
    ...operations,
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
