import type { H3Event } from "h3";
import { z } from "zod";
import type { BuildFilter } from "../../shared/builds/reading/list-plan-store.ts";
import { type JobState, jobStates, shownBuildStates } from "../../shared/vocabulary.ts";
import { pageQuery } from "./json/list.ts";
import { type QueryReader, readFilterQuery, readQuery } from "./query-reader.ts";

const list = z.array(z.string()).optional();
const yes = z.boolean().optional();
const timeQuery = z.string().optional().meta({
  format: "date-time",
  description:
    "RFC 3339 with an offset, such as 2026-01-31T00:00:00Z; or a date, which is its midnight in UTC",
});

/** For the OpenAPI document. */
const contentQuery = {
  include_retried_jobs: yes.meta({ default: false, description: "true adds jobs that were retried" }),
  exclude_jobs: yes.meta({ default: false, description: "true leaves out the jobs" }),
  exclude_pipeline: yes.meta({ default: false, description: "true leaves out the pipeline" }),
};
export const buildContentQuery = {
  ...contentQuery,
  job_states: list.meta({
    description: `Only jobs of these states: ${jobStates.join(", ")}; also as job_states[]`,
  }),
};
export const buildFilterQuery = {
  state: list.meta({ description: `${shownBuildStates.join(", ")}, blocked, or finished; also as state[]` }),
  branch: list.meta({ description: "Also as branch[]" }),
  commit: list.meta({ description: "Also as commit[]" }),
  pull_request: z.int().optional().meta({ description: "The number of a pull request" }),
  creator: z.uuid().optional().meta({ description: "Id of the user who made the build" }),
  created_from: timeQuery,
  created_to: timeQuery,
  finished_from: timeQuery,
  meta_data: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: "meta_data[key]=value; a build must have all of them" }),
  include_paused: yes.meta({
    default: true,
    description: "false drops builds whose waiting jobs all sit on paused queues",
  }),
  ...contentQuery,
};

/** The parts of a build that an answer has. */
export interface BuildContent {
  hasJobs: boolean;
  hasPipeline: boolean;
  hasRetriedJobs: boolean;
  jobStates?: JobState[] | undefined;
}

export const allOfBuild: BuildContent = { hasJobs: true, hasPipeline: true, hasRetriedJobs: false };

/** Reads the query. @throws Refusal 422 */
export function readBuildContent(event: H3Event): BuildContent {
  return readQuery(event, (query) => ({ ...readContent(query), jobStates: query.jobStates("job_states") }));
}

/** Reads the query. @throws Refusal 422 */
export function readBuildFilter(
  event: H3Event,
): Omit<BuildFilter, "organizationId" | "pipelineId"> & { content: BuildContent } {
  return readFilterQuery(event, pageQuery, (query) => ({
    states: query.states(),
    branches: query.texts("branch"),
    commits: query.texts("commit"),
    pullRequestNumber: query.requestNumber("pull_request"),
    creatorId: query.id("creator"),
    createdFrom: query.time("created_from"),
    createdTo: query.time("created_to"),
    finishedFrom: query.time("finished_from"),
    metaData: query.metaData(),
    includePaused: query.boolean("include_paused") ?? true,
    content: readContent(query),
  }));
}

function readContent(query: QueryReader): BuildContent {
  return {
    hasJobs: !query.boolean("exclude_jobs"),
    hasPipeline: !query.boolean("exclude_pipeline"),
    hasRetriedJobs: query.boolean("include_retried_jobs") ?? false,
  };
}
