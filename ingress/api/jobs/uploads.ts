import type { H3Event } from "h3";
import { z } from "zod";
import { findUpload, listUploads, type StepUpload } from "../../../shared/agents/upload-store.ts";
import { isId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { graphqlId } from "../../../shared/presenters/graphql-id.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { api } from "../../../shared/settings/urls.ts";
import { readCursorPage } from "../../http/cursor-pager.ts";
import { type Call, type Operation, operation } from "../../operations/operation.ts";
import { cursorPageSchema, cursorQuery, presentCursorPage } from "../json/list.ts";
import { readFilterQuery } from "../query-reader.ts";
import { findBuildOfCall } from "./address.ts";

const sourceJob = "filter[source_job_id]";
const query = {
  ...cursorQuery,
  [sourceJob]: field.id.optional().meta({ description: "Uploads of this job" }),
};

const uploadSchema = z
  .object({
    uuid: field.id,
    graphql_id: field.graphql,
    state: z.literal("applied").meta({ description: "What is refused is told to the job, and not kept" }),
    source: z.literal("job"),
    source_job_id: field.id,
    replace_existing_steps: z.boolean(),
    created_jobs_count: z.int(),
    rejection_type: z.null(),
    message: z.null(),
    url: field.url,
    created_at: field.timestamp,
    processed_at: field.timestamp,
  })
  .meta({ id: "StepUpload" });

const oneUpload = uploadSchema
  .extend({
    definition_bytes: z.null(),
    definition_yaml: z.null(),
    definition_yaml_omitted: z.literal(true).meta({ description: "The steps are kept as jobs alone" }),
  })
  .meta({ id: "WholeStepUpload" });

/** The uploads of steps by the jobs of a build. */
export function uploadOperations(services: Services): Operation[] {
  const { db, config } = services;
  const reading = { tag: "Builds", scope: "read_builds" as const, methods: ["GET"] as ["GET"] };
  const presenterOf = (call: Call<unknown>, slug: string, number: number) => (upload: StepUpload) => ({
    uuid: upload.id,
    graphql_id: graphqlId("BuildStepUpload", upload.id),
    state: "applied",
    source: "job",
    source_job_id: upload.jobId,
    replace_existing_steps: upload.isReplacing,
    created_jobs_count: upload.jobsMade,
    rejection_type: null,
    message: null,
    url: api.stepUpload(config, { org: call.caller.organization.slug, slug, number }, upload.id),
    created_at: upload.createdAt,
    processed_at: upload.createdAt,
  });
  return [
    operation({
      ...reading,
      path: patterns.stepUploads,
      id: "listStepUploads",
      summary: "The uploads of steps by the jobs of a build, newest first",
      query,
      success: { status: 200, schema: cursorPageSchema(uploadSchema), description: "A page of uploads" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const { build, pipeline } = await findBuildOfCall(services, call);
        const page = readCursorPage(call.event);
        const found = await listUploads(db, build.id, page, readSourceJob(call.event));
        const present = presenterOf(call, pipeline.slug, build.number);
        return presentCursorPage(call.event, page, found, { base: config.baseUrl, present });
      },
    }),
    operation({
      ...reading,
      path: patterns.stepUpload,
      id: "getStepUpload",
      summary: "An upload of steps by a job of a build",
      success: { status: 200, schema: oneUpload, description: "The upload" },
      run: async (call) => {
        const { build, pipeline } = await findBuildOfCall(services, call);
        const id = call.parameter("upload");
        const upload = isId(id) ? await findUpload(db, build.id, id) : undefined;
        if (!upload) throw notFound("step upload");
        const present = presenterOf(call, pipeline.slug, build.number);
        const definition = { definition_bytes: null, definition_yaml: null, definition_yaml_omitted: true };
        return { ...present(upload), ...definition };
      },
    }),
  ];
}

function readSourceJob(event: H3Event): string | undefined {
  return readFilterQuery(event, cursorQuery, (given) =>
    given.id(sourceJob, "filter[source_job_id] must be the id of a job"),
  );
}
