import { pathTo, patterns } from "../../../shared/paths.ts";
import { deletePipeline } from "../../../shared/pipelines/pipelines.ts";
import { loadPipeline, pipelinePath } from "../address/pipeline.ts";
import { confirmPage } from "../resources/confirm-page.tsx";
import { withNotice } from "../ui/notices.ts";
import { asSentence } from "../ui/problems.ts";

/** GET and POST …/pipelines/:slug/delete */
export const deletePipelinePage = confirmPage({
  isForAll: true,
  section: "pipelines",
  load: loadPipeline,
  title: ({ name }) => `Delete the pipeline ${name}?`,
  text: () =>
    "The URLs of its triggers answer 404 at once, and its builds are deleted with their logs. This cannot be undone.",
  typedName: ({ name }) => name,
  path: (request) => pipelinePath(request, patterns.deletePipelinePage),
  back: (request) => pipelinePath(request),
  run: async (services, request, pipeline) => {
    await deletePipeline(services, request.actor, pipeline);
    return withNotice(pathTo(patterns.pipelinesPage, { org: request.organization.slug }), "pipeline_deleted");
  },
  explain: (_, request, __, problems) => (
    <>
      {asSentence(problems)} <a href={pipelinePath(request)}>Wait for its builds, or cancel them</a>.
    </>
  ),
});
