import { storageFull } from "../../../shared/accounts/storage.ts";
import { patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import { newSchedule, type ShownSchedule, scheduleChange } from "../../../shared/schedules/members.ts";
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  requireSchedule,
  variablesOf,
} from "../../../shared/schedules/schedules.ts";
import { listSchedulesPage, type Schedule } from "../../../shared/schedules/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Operation } from "../../operations/operation.ts";
import { pipelineOf } from "../pipelines.ts";
import { resourceOperations } from "../resources/operations.ts";
import { presentSchedule, scheduleSchema } from "./json.ts";

export type ScheduleOfPipeline = ShownSchedule & { pipeline: PipelineFacts };

export function scheduleOperations(services: Services): Operation[] {
  const { db, config } = services;
  const shown = (pipeline: PipelineFacts, schedule: Schedule): ScheduleOfPipeline => ({
    ...schedule,
    env: variablesOf(services, schedule),
    defaultBranch: pipeline.defaultBranch,
    pipeline,
  });
  return resourceOperations(services, {
    tag: "Schedules",
    scopes: { reading: "read_pipelines", writing: "write_pipelines" },
    isForMembers: true,
    paths: { list: patterns.schedules, one: patterns.schedule },
    schema: scheduleSchema,
    ownerOf: (call) => pipelineOf(services, call),
    find: async (pipeline, { parameter }) =>
      shown(pipeline, await requireSchedule(db, pipeline, parameter("schedule"))),
    userIdsOf: ({ createdById }) => [createdById],
    present: (schedule, organization, users) => presentSchedule(config, organization, schedule, users),
    list: {
      id: "listSchedules",
      summary: "The schedules of a pipeline, newest first",
      answer: "A page of schedules",
      read: async (pipeline, page) => {
        const listed = await listSchedulesPage(db, pipeline.id, page);
        return { ...listed, rows: listed.rows.map((each) => shown(pipeline, each)) };
      },
    },
    create: {
      id: "createSchedule",
      summary: "Build a pipeline at times",
      answer: "The new schedule",
      refusals: ["Validation failed: …", storageFull],
      body: newSchedule,
      run: async ({ actor, readBody }, pipeline) =>
        shown(pipeline, await createSchedule(services, actor, pipeline, await readBody())),
    },
    get: { id: "getSchedule", summary: "A schedule", answer: "The schedule" },
    update: {
      id: "updateSchedule",
      summary: "Change a schedule",
      answer: "The changed schedule",
      body: scheduleChange,
      run: async ({ actor, readBody }, { pipeline, ...schedule }) =>
        shown(pipeline, await changeSchedule(services, actor, schedule, await readBody())),
    },
    delete: {
      id: "deleteSchedule",
      summary: "Delete a schedule; its builds stay",
      answer: "It makes no more builds",
      run: ({ actor }, schedule) => deleteSchedule(services, actor, schedule),
    },
  }).operations;
}
