import { type Cluster, listClusters } from "../../../shared/clusters/store.ts";
import { patterns } from "../../../shared/paths.ts";
import { environmentOfPipeline } from "../../../shared/pipelines/environment.ts";
import { updatePipeline } from "../../../shared/pipelines/pipelines.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { listQueues } from "../../../shared/queues/store.ts";
import type { Bodies } from "../../http/body.ts";
import { loadPipeline, pipelinePath } from "../address/pipeline.ts";
import { environmentFormOptions } from "../ui/environment-field.tsx";
import { CsrfField } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import {
  draftOfPipeline,
  type PipelineDraft,
  PipelineFields,
  pipelineFields,
  readPipelineDraft,
  toPipelineChange,
} from "./form.tsx";
import { editSteps } from "./steps.ts";

/** GET …/pipelines/:slug/edit */
export function editPipelinePage(services: Services) {
  return memberPage(services, async (request) => {
    const pipeline = await loadPipeline(services, request);
    return show(services, request, pipeline, { draft: draftOfPipeline(pipeline) });
  });
}

/** POST …/edit {fields as in new but slug, environment_choice: keep or replace} */
export function savePipeline(services: Services, bodies: Bodies) {
  return memberAction(
    services,
    bodies,
    async (request, form) => {
      const pipeline = await loadPipeline(services, request);
      const draft = readPipelineDraft(form);
      const names = pipelineFields(draft);
      const edited = await tryForm(() => editSteps(draft.steps, form.get("do") ?? ""), names);
      if ("problems" in edited)
        return show(services, request, pipeline, { draft, problems: edited.problems });
      if (edited.done) return show(services, request, pipeline, { draft: { ...draft, steps: edited.done } });
      const outcome = await tryForm(
        async () => updatePipeline(services, request.actor, pipeline, await toPipelineChange(draft)),
        names,
      );
      if ("problems" in outcome)
        return show(services, request, pipeline, { draft, problems: outcome.problems });
      return withNotice(pipelinePath(request), "pipeline_saved");
    },
    environmentFormOptions,
  );
}

async function show(
  { db, cipher }: Services,
  request: MemberRequest,
  pipeline: Pipeline,
  { draft, problems }: { draft: PipelineDraft; problems?: FormProblems },
): Promise<PageContent> {
  const { organization, visitor } = request;
  const clusters: Cluster[] = await listClusters(db, organization.id);
  const chosen = clusters.find(({ id }) => id === draft.cluster);
  const queues = chosen ? await listQueues(db, chosen.id) : [];
  return {
    title: "Edit",
    status: problems ? 422 : 200,
    script: "once.js",
    within: { organization, section: "pipelines" },
    content: (
      <div class="narrow">
        <h1>Edit {pipeline.name}</h1>
        <form method="post" action={pipelinePath(request, patterns.editPipelinePage)}>
          <CsrfField visitor={visitor} />
          <PipelineFields
            {...{ draft, clusters, problems }}
            queues={queues.map(({ key }) => key)}
            variables={Object.keys(environmentOfPipeline(cipher, pipeline))}
          />
          <p class="actions">
            <button type="submit">Save</button>
            <a class="button secondary" href={pipelinePath(request)}>
              Cancel
            </a>
          </p>
        </form>
      </div>
    ),
  };
}
