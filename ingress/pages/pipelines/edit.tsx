import { isDeepStrictEqual } from "node:util";
import { findPlacedGraph } from "../../../shared/builds/rows/graph-store.ts";
import { isStep, isUpload } from "../../../shared/graph/tree.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { environmentOfPipeline } from "../../../shared/pipelines/environment.ts";
import { updatePipeline } from "../../../shared/pipelines/pipelines.ts";
import { providerIn } from "../../../shared/pipelines/provider/provider.ts";
import { findWebhook } from "../../../shared/pipelines/provider/webhook-store.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { loadCause, loadPipelineWithSteps, pipelinePath } from "../address/pipeline.ts";
import { conditionPath } from "../address/provider.ts";
import { newKeysPage } from "../provider/keys.tsx";
import { environmentFormOptions, requireNoneSaved } from "../ui/environment-field.tsx";
import { PostForm } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import type { FormProblems } from "../ui/problems.ts";
import {
  draftOfPipeline,
  type PipelineDraft,
  PipelineFields,
  takePipelineForm,
  toPipelineChange,
} from "./form.tsx";
import { loadChoices } from "./load.ts";
import { withNextBuild } from "./next-build.tsx";

/** GET …/pipelines/:slug/edit?build=12&step=…: a build led here, whose steps are to be mended, and the one that failed. */
export const editPipelinePage = memberPage(async (services, request) => {
  const pipeline = await loadPipelineWithSteps(services, request);
  const draft = draftOfPipeline(pipeline);
  const focused = await findFailedStep(services, request, pipeline);
  return show(services, request, pipeline, { draft: { ...draft, steps: { ...draft.steps, focused } } });
});

/** The place of the failed step among those of the pipeline. -1: it is not in their list. Undefined: none is named. */
async function findFailedStep(
  services: Services,
  request: MemberRequest,
  pipeline: Pipeline,
): Promise<number | undefined> {
  const id = request.event.url.searchParams.get("step");
  const build = id === null ? undefined : await loadCause(services, request, pipeline);
  if (!build) return undefined;
  const { tree } = await findPlacedGraph(services.db, build);
  return tree.filter((node) => !isUpload(node)).findIndex((node) => isStep(node) && node.id === id);
}

/**
 * POST …/edit?build=12 {fields as in new but slug, environment_choice: keep, replace or first}. A first repository
 * leads to the set-up of its host.
 */
export const savePipeline = memberAction(async (services, request, form) => {
  const { id } = request.organization;
  const pipeline = await loadPipelineWithSteps(services, request);
  const webhook = await findWebhook(services.db, { pipelineId: pipeline.id });
  const outcome = await takePipelineForm(services, id, form, async (draft) => {
    const change = await toPipelineChange(id, draft);
    return updatePipeline(services, request.actor, pipeline, change, (present) =>
      requireNoneSaved(form, environmentOfPipeline(services.cipher, present)),
    );
  });
  if (!("saved" in outcome)) return show(services, request, pipeline, outcome);
  const { saved } = outcome;
  const keys = webhook ? undefined : await newKeysPage(services, request, saved, `${saved.name} is saved`);
  if (keys) return keys;
  const stepsOf = ({ steps, configuration }: Pipeline) => ({ steps, configuration });
  if (isDeepStrictEqual(stepsOf(saved), stepsOf(pipeline)))
    return withNotice(pipelinePath(request), "pipeline_saved");
  const cause = await loadCause(services, request, pipeline);
  return withNextBuild(withNotice(pipelinePath(request), "steps_saved"), cause);
}, environmentFormOptions);

async function show(
  services: Services,
  request: MemberRequest,
  pipeline: Pipeline,
  { draft, problems }: { draft: PipelineDraft; problems?: FormProblems },
): Promise<PageContent> {
  const cause = await loadCause(services, request, pipeline);
  const place = { org: request.organization.slug, slug: pipeline.slug };
  const choices = await loadChoices(services, request, draft.members.clusterId ?? "");
  const provider = await providerIn(services.db, pipeline);
  return narrowPage({
    title: "Edit",
    problems,
    script: "once.js",
    section: "pipelines",
    heading: `Edit ${pipeline.name}`,
    content: (
      <PostForm
        path={pipelinePath(request, patterns.editPipelinePage) + (cause ? `?build=${cause.number}` : "")}
        problems={problems}
        button="Save"
        back={
          cause ? pathTo(patterns.buildPage, { ...place, number: `${cause.number}` }) : pipelinePath(request)
        }
      >
        <PipelineFields
          draft={draft}
          {...choices}
          problems={problems}
          conditionPath={provider === null ? undefined : conditionPath(request)}
          isOpen={request.event.url.searchParams.get("unfold") === "others"}
          variables={Object.keys(environmentOfPipeline(services.cipher, pipeline))}
        />
      </PostForm>
    ),
  });
}
