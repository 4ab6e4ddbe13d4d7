import { listClusterNames } from "../../../shared/clusters/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import { listPipelineNames, type Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { newKeysPage } from "../provider/keys.tsx";
import { environmentFormOptions } from "../ui/environment-field.tsx";
import { LinkButton, PostForm } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent, PageResult } from "../ui/page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import type { FormProblems } from "../ui/problems.ts";
import {
  newPipelineDraft,
  type PipelineDraft,
  PipelineFields,
  takePipelineForm,
  toNewPipeline,
} from "./form.tsx";
import { loadChoices } from "./load.ts";
import { withNextBuild } from "./next-build.tsx";
import { newRow, type StepsDraft } from "./steps.ts";

/** GET /organizations/:org/new-pipeline?configuration=…: examples of the guides open the form with their YAML. */
export const newPipelinePage = memberPage(async (services, request) => {
  const [first] = await listClusterNames(services.db, request.organization.id, 1);
  if (!first) return noClusterPage(request);
  const steps = await initialSteps(services, request);
  return show(services, request, { draft: newPipelineDraft(first.id, steps) });
});

/**
 * Pipelines take their steps from the repository by default. The first one of an organization begins with fields: its
 * builds need no file in the repository.
 */
async function initialSteps({ db }: Services, { organization, event }: MemberRequest): Promise<StepsDraft> {
  const yaml = event.url.searchParams.get("configuration");
  if (yaml !== null) return { as: "yaml", yaml };
  const page = { limit: 1, offset: 0 };
  const { rows } = await listPipelineNames(db, { organizationId: organization.id }, page);
  return rows.length === 0 ? { as: "rows", rows: [newRow] } : { as: "repository" };
}

/** POST … {name, slug, cluster, description, repository, branch, environment, steps or rows, do} */
export const addPipeline = memberAction(async (services, request, form) => {
  const { id } = request.organization;
  const outcome = await takePipelineForm(services, id, form, async (draft) => {
    return createPipeline(services, request.actor, await toNewPipeline(id, draft));
  });
  return "saved" in outcome
    ? showCreated(services, request, outcome.saved)
    : show(services, request, outcome);
}, environmentFormOptions);

/** Leads to the set-up of the source host, if there is a repository. */
async function showCreated(
  services: Services,
  request: MemberRequest,
  pipeline: Pipeline,
): Promise<PageResult> {
  const keys = await newKeysPage(services, request, pipeline, `${pipeline.name} is created`);
  if (keys) return keys;
  const parameters = { org: request.organization.slug, slug: pipeline.slug };
  if (pipeline.repository !== null)
    return withNotice(pathTo(patterns.providerPage, parameters), "pipeline_created");
  return withNextBuild(withNotice(pathTo(patterns.pipelinePage, parameters), "pipeline_created"));
}

async function show(
  services: Services,
  request: MemberRequest,
  { draft, problems }: { draft: PipelineDraft; problems?: FormProblems },
): Promise<PageContent> {
  const { organization, event } = request;
  const choices = await loadChoices(services, request, draft.members.clusterId ?? "");
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
        problems={problems}
        button="Create pipeline"
        back={pathTo(patterns.pipelinesPage, parameters)}
      >
        <p>The webhook of its repository, with address and secret, follows on the next page.</p>
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
