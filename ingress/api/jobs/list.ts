import type { H3Event } from "h3";
import { z } from "zod";
import { type JobPageFilter, listJobsOfPage } from "../../../shared/builds/reading/job-page-store.ts";
import { patterns } from "../../../shared/paths.ts";
import { jobSchema } from "../../../shared/presenters/job.ts";
import type { Services } from "../../../shared/services/services.ts";
import { jobStates } from "../../../shared/vocabulary.ts";
import { readCursorPage } from "../../http/cursor-pager.ts";
import { answerJson } from "../../http/transfers/json-stream.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { holderOf } from "../holder.ts";
import { writeTheseJobs } from "../json/builds.ts";
import { cursorPageSchema, cursorQuery, inCursorPage, presentCursorPage } from "../json/list.ts";
import { readFilterQuery } from "../query-reader.ts";
import { findBuildOfCall } from "./address.ts";

const query = {
  ...cursorQuery,
  after: z.string().meta({ description: "Cursor from a link: the page of later jobs" }),
  before: z
    .string()
    .meta({ description: "Cursor from a link: the page of earlier jobs. Not together with after" }),
  state: z
    .array(z.string())
    .optional()
    .meta({ description: `${jobStates.join(", ")}; also as state[]` }),
  step_key: z.string().optional().meta({ description: "The key of their step" }),
  group_key: z.string().optional().meta({ description: "The key of their group" }),
  include_retried_jobs: z
    .boolean()
    .optional()
    .meta({ default: true, description: "false leaves out jobs that were retried" }),
};

/** The list of a build's jobs. */
export function jobListOperations(services: Services): Operation[] {
  const { db, config } = services;
  return [
    operation({
      tag: "Builds",
      scope: "read_builds",
      methods: ["GET"],
      path: patterns.buildJobs,
      id: "listJobs",
      summary: "The jobs of a build, in the order of its steps",
      query,
      success: { status: 200, schema: cursorPageSchema(jobSchema), description: "A page of jobs" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const { event, caller } = call;
        const { build, pipeline } = await findBuildOfCall(services, call);
        const page = readCursorPage(event);
        const { limit, olderThan: after, newerThan: before } = page;
        const found = await listJobsOfPage(db, build.id, { limit, after, before }, readFilter(event));
        const { items, links } = presentCursorPage(event, page, found, {
          base: config.baseUrl,
          present: (row) => row,
        });
        const jobs = writeTheseJobs(services, caller.organization, { build, pipeline }, items);
        return answerJson(event, holderOf(caller), inCursorPage(jobs, links));
      },
    }),
  ];
}

function readFilter(event: H3Event): JobPageFilter {
  return readFilterQuery(event, cursorQuery, (given) => ({
    jobStates: given.jobStates("state"),
    stepKey: given.text("step_key"),
    groupKey: given.text("group_key"),
    hasRetriedJobs: given.boolean("include_retried_jobs") ?? true,
  }));
}
