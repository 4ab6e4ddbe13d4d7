import { z } from "zod";
import { storageFull } from "../../shared/accounts/storage.ts";
import { patterns } from "../../shared/paths.ts";
import type { PipelineFacts } from "../../shared/pipelines/store.ts";
import * as field from "../../shared/presenters/fields.ts";
import {
  newSchedule,
  type ShownSchedule,
  scheduleChange,
  scheduleMembers,
} from "../../shared/schedules/members.ts";
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  requireSchedule,
  variablesOf,
} from "../../shared/schedules/schedules.ts";
import { listSchedulesPage, type Schedule } from "../../shared/schedules/store.ts";
import type { Services } from "../../shared/services/services.ts";
import { api } from "../../shared/settings/urls.ts";
import type { Operation } from "../operations/operation.ts";
import { pipelineOf } from "./pipelines.ts";
import { answerOf, created, declared, identified } from "./resources/answer.ts";
import { resourceOperations } from "./resources/operations.ts";

type ScheduleOfPipeline = ShownSchedule & { pipeline: PipelineFacts };

const scheduleAnswer = answerOf<ScheduleOfPipeline>("Schedule", {
  ...identified("PipelineSchedule"),
  url: [field.url, ({ id, pipeline: { slug } }, { config, org }) => api.schedule(config, { org, slug }, id)],
  ...declared(scheduleMembers),
  next_build_at: [
    field.timestamp.nullable().meta({ description: "Null: it is disabled" }),
    ({ nextBuildAt }) => nextBuildAt,
  ],
  failed_message: [
    z.string().nullable().meta({ description: "Why its last time made no build; null if it made one" }),
    ({ failedMessage }) => failedMessage,
  ],
  failed_at: [field.timestamp.nullable(), ({ failedAt }) => failedAt],
  ...created,
  pipeline: [
    z.object({ id: field.id, slug: z.string(), url: field.url }),
    ({ pipeline: { id, slug } }, { config, org }) => ({ id, slug, url: api.pipeline(config, { org, slug }) }),
  ],
});

export function scheduleOperations(services: Services): Operation[] {
  const { db } = services;
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
    json: scheduleAnswer,
    ownerOf: (call) => pipelineOf(services, call),
    find: async (pipeline, { parameter }) =>
      shown(pipeline, await requireSchedule(db, pipeline, parameter("schedule"))),
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
