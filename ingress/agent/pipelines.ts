import { defineHandler } from "h3";
import { z } from "zod";
import { findUploadState, uploadPipeline } from "../../shared/agents/upload.ts";
import { storeInTurn } from "../../shared/builds/store-in-turn.ts";
import { isId, lowerCaseId } from "../../shared/ids.ts";
import { uploadedPipeline } from "../../shared/pipelines/steps.ts";
import type { Services } from "../../shared/process/services.ts";
import { notFound, unprocessable } from "../../shared/refusal.ts";
import { requireJobCall, requireLease } from "../auth/agent.ts";
import type { Bodies } from "../http/body.ts";
import { readJson } from "../http/json-body.ts";
import { limitPipelineUploads } from "../http/limits.ts";
import { pathParameter } from "../http/routing.ts";

export const uploadBody = z.object({
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
export const uploadState = z.object({ state: z.literal("applied") });

/** `/v3/jobs/:id/pipelines`. Steps are added at once, so `?async=true` makes no difference. */
export function pipelineHandlers(services: Services, bodies: Bodies) {
  return {
    upload: defineHandler(async (event) => {
      const { build, lease } = await requireLease(services, event);
      await limitPipelineUploads(services, lease.jobId);
      const { uuid, pipeline, replace } = await readJson(
        { event, bodies, organizationId: build.organizationId },
        { schema: uploadBody, refuse: unprocessable },
      );
      const upload = { id: uuid, pipeline, isReplacing: replace ?? false };
      await storeInTurn(build.organizationId, () => uploadPipeline(services, { build, lease }, upload));
      return { state: "applied" };
    }),

    state: defineHandler(async (event) => {
      const { job } = await requireJobCall(services, event);
      const id = pathParameter(event, "upload") ?? "";
      const state = isId(id) ? await findUploadState(services.db, job.id, id) : undefined;
      if (!state) throw notFound("pipeline upload");
      return { state };
    }),
  };
}
