import { z } from "zod";
import { findUploadState, uploadPipeline } from "../../shared/agents/upload.ts";
import { isId, lowerCaseId } from "../../shared/ids.ts";
import { patterns } from "../../shared/paths.ts";
import { readUploadAhead, uploadedPipeline } from "../../shared/pipelines/pipeline-document.ts";
import { maxWarnings } from "../../shared/pipelines/warnings.ts";
import * as field from "../../shared/presenters/fields.ts";
import { notFound, unprocessable } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { limitJob } from "../http/limits/limits.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { answer, tag } from "./answers.ts";

/** An upload has at most 500 steps: 100 values for each. */
const maxValues = 50_000;
const upload = z.object({
  uuid: z
    .string({ error: "uuid must be text" })
    .transform(lowerCaseId)
    .refine((id) => isId(id), "uuid must be a UUID")
    .meta({ description: "Made by the caller. The same upload again changes nothing" }),
  pipeline: uploadedPipeline,
  replace: z
    .boolean({ error: "replace must be true or false" })
    .nullish()
    .meta({ description: "True first cancels the jobs of the build that have not started" }),
});
const state = z.literal("applied");
const warnings = z.array(field.stepWarning).meta({
  description: `Members of the steps without the effect that their author may expect, ${maxWarnings} at most`,
});
const applied = answer(z.object({ state }), "The steps are added");
const appliedWithWarnings = answer(z.object({ state, warnings }), "The steps are added");

/** The calls of pipeline uploads. Steps are added at once, so `?async=true` makes no difference. */
export function uploadOperations(services: Services): Operation[] {
  return [
    operation({
      tag,
      caller: "lease",
      methods: ["POST"],
      path: patterns.uploadPipeline,
      id: "uploadPipeline",
      summary: "Add steps to the build of a running job, directly after its step",
      query: { async: z.string().optional().meta({ description: "Makes no difference" }) },
      body: {
        schema: upload,
        readAhead: ({ pipeline }) => readUploadAhead(pipeline),
        refuse: unprocessable,
        maxValues,
      },
      success: appliedWithWarnings,
      refusals: {
        422: [
          "a step is wrong, the job does not run, the build would have too many or too large jobs, or the organization has reached its limit of stored bytes",
        ],
        429: ["The job uploads too often: wait as Retry-After says"],
      },
      run: async ({ build, job, lease, readBody }) => {
        await limitJob(services, "pipeline-uploads", lease.jobId);
        const { uuid, pipeline, replace } = await readBody();
        const upload = { id: uuid, pipeline, isReplacing: replace ?? false };
        return { state: "applied", warnings: await uploadPipeline(services, { build, job, lease }, upload) };
      },
    }),
    operation({
      tag,
      caller: "job",
      methods: ["GET"],
      path: patterns.pipelineUpload,
      id: "getPipelineUpload",
      summary: "The state of an upload",
      success: applied,
      run: async ({ job, parameter }) => {
        const id = parameter("upload");
        const state = isId(id) ? await findUploadState(services.db, job.id, id) : undefined;
        if (!state) throw notFound("pipeline upload");
        return { state };
      },
    }),
  ];
}
