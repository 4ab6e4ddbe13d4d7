import { pathTo, patterns } from "../../../shared/paths.ts";
import { deletePipeline } from "../../../shared/pipelines/pipelines.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import { loadPipeline, pipelinePath } from "../address/pipeline.ts";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { confirmation } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { asSentence, type FormProblems, tryForm } from "../ui/problems.ts";

/** GET …/pipelines/:slug/delete */
export const deletePipelinePage = memberPage(async (services, request) =>
  confirm(request, await loadPipeline(services, request)),
);

/** POST …/delete */
export const removePipeline = memberAction(async (services, request) => {
  const pipeline = await loadPipeline(services, request);
  const outcome = await tryForm(() => deletePipeline(services, request.actor, pipeline));
  if ("problems" in outcome) return confirm(request, pipeline, outcome.problems);
  return withNotice(pathTo(patterns.pipelinesPage, { org: request.organization.slug }), "pipeline_deleted");
});

function confirm(request: MemberRequest, { name }: PipelineFacts, problems?: FormProblems): PageContent {
  return confirmation({
    title: `Delete the pipeline ${name}?`,
    section: "pipelines",
    text: "The URLs of its triggers answer 404 at once, and its builds are deleted with their logs. This cannot be undone.",
    button: "Delete",
    path: pipelinePath(request, patterns.deletePipelinePage),
    back: pipelinePath(request),
    problem: problems && (
      <>
        {asSentence(problems)} <a href={pipelinePath(request)}>Wait for its builds, or cancel them</a>.
      </>
    ),
  });
}
