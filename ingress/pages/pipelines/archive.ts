import { archivePipeline, unarchivePipeline } from "../../../shared/pipelines/archive.ts";
import { loadPipeline, pipelinePath } from "../address/pipeline.ts";
import { memberAction } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";

/** POST …/archive. After a double click the pipeline is archived already. */
export const archivePipelineForm = memberAction(async (services, request) => {
  await archivePipeline(services, request.actor, await loadPipeline(services, request));
  return withNotice(pipelinePath(request), "pipeline_archived");
});

/** POST …/unarchive. */
export const unarchivePipelineForm = memberAction(async (services, request) => {
  await unarchivePipeline(services, request.actor, await loadPipeline(services, request));
  return withNotice(pipelinePath(request), "pipeline_unarchived");
});
