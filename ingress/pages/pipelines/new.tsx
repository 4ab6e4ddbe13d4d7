import { listClusterNames } from "../../../shared/clusters/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import type { Services } from "../../../shared/services/services.ts";
import { environmentFormOptions } from "../ui/environment-field.tsx";
import { LinkButton, PostForm } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import {
  emptyPipelineDraft,
  type PipelineDraft,
  PipelineFields,
  pipelineFields,
  readPipelineDraft,
  toNewPipeline,
} from "./form.tsx";
import { loadChoices } from "./load.ts";
import { editSteps } from "./steps.ts";

/** GET /organizations/:org/new-pipeline */
export const newPipelinePage = memberPage(async (services, request) => {
  const [first] = await listClusterNames(services.db, request.organization.id, 1);
  if (!first) return noClusterPage(request);
  return show(services, request, { draft: emptyPipelineDraft(first.id) });
});

/** POST … {name, slug, cluster, description, repository, branch, environment, steps or rows, do} */
export const addPipeline = memberAction(async (services, request, form) => {
  const organizationId = request.organization.id;
  const draft = readPipelineDraft(form);
  const names = pipelineFields(draft);
  const edited = await tryForm(() => editSteps(organizationId, draft.steps, form.get("do") ?? ""), names);
  if ("problems" in edited) return show(services, request, { draft, problems: edited.problems });
  if (edited.done) return show(services, request, { draft: { ...draft, steps: edited.done } });
  const outcome = await tryForm(
    async () => createPipeline(services, request.actor, await toNewPipeline(organizationId, draft)),
    names,
  );
  if ("problems" in outcome) return show(services, request, { draft, problems: outcome.problems });
  const { slug } = outcome.done;
  return withNotice(
    pathTo(patterns.pipelinePage, { org: request.organization.slug, slug }),
    "pipeline_created",
  );
}, environmentFormOptions);

async function show(
  services: Services,
  request: MemberRequest,
  { draft, problems }: { draft: PipelineDraft; problems?: FormProblems },
): Promise<PageContent> {
  const { organization, event } = request;
  const choices = await loadChoices(services, request, draft.cluster);
  const parameters = { org: organization.slug };
  addCrumbs(event, { text: "Pipelines", path: pathTo(patterns.pipelinesPage, parameters), isList: true });
  return narrowPage({
    title: "New pipeline",
    problems,
    script: "once.js",
    section: "pipelines",
    content: (
      <PostForm
        path={pathTo(patterns.newPipelinePage, parameters)}
        button="Create pipeline"
        back={pathTo(patterns.pipelinesPage, parameters)}
      >
        <PipelineFields draft={draft} {...choices} problems={problems} />
      </PostForm>
    ),
  });
}

function noClusterPage({ organization, role }: MemberRequest): PageContent {
  return narrowPage({
    title: "New pipeline",
    section: "pipelines",
    content: (
      <>
        <p>
          A pipeline runs in a cluster, and there is none yet.{" "}
          {role === "admin" ? "Create one first." : "Ask an admin of the organization to create one."}
        </p>
        <p>
          <LinkButton
            href={pathTo(patterns.clustersPage, { org: organization.slug })}
            text="Go to the clusters"
          />
        </p>
      </>
    ),
  });
}
