import { newId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { createTrigger, maxTriggersPerPipeline } from "../../../shared/triggers/create.ts";
import { findTrigger, listTriggersInBrief } from "../../../shared/triggers/store.ts";
import { triggerTypes } from "../../../shared/triggers/types.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { loadPipelineOfTriggers } from "../address/trigger.ts";
import { environmentFormOptions } from "../ui/environment-field.tsx";
import { LinkButton, PostForm } from "../ui/form.tsx";
import { readFormId } from "../ui/form-id.ts";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { PublicPreview } from "../ui/tables.tsx";
import { alreadyCreatedPage, createdPage } from "./created.tsx";
import { filterSettings } from "./filter-field.tsx";
import {
  emptyDraft,
  fieldNames,
  readTrigger,
  type TriggerDraft,
  TriggerFields,
  toNewTrigger,
  withGeneratedSecret,
} from "./form.tsx";

/** GET …/triggers/new */
export const newTriggerPage = memberPage(async (services, request) => {
  const { db, clock } = services;
  const pipeline = await loadPipelineOfTriggers(services, request);
  const triggers = await listTriggersInBrief(db, pipeline.id, maxTriggersPerPipeline);
  if (triggers.length >= maxTriggersPerPipeline) return limitReachedPage(request, pipeline);
  return newPage(services, request, { pipeline, id: newId(clock.now()), draft: emptyDraft });
});

/** POST …/new: the answer shows the URL, once. */
export const addTrigger = memberAction(async (services, request, form) => {
  const { db } = services;

  const pipeline = await loadPipelineOfTriggers(services, request);
  const draft = readTrigger(form);
  const id = readFormId(services, form);
  if (form.get("do") === "generate")
    return newPage(services, request, { pipeline, id, draft: withGeneratedSecret(draft) });
  const outcome = await tryForm(
    async () =>
      createTrigger(
        services,
        request.actor,
        pipeline,
        toNewTrigger(services.config, request.actor, draft),
        id,
      ),
    fieldNames,
  );
  if ("problems" in outcome)
    return newPage(services, request, {
      pipeline,
      id,
      draft: withoutHiddenFields(draft),
      problems: outcome.problems,
    });
  if (!outcome.done)
    return alreadyCreatedPage(request, await findTrigger(db, { pipelineId: pipeline.id, id }));
  const secret = draft.isVerified && draft.isGenerated ? draft.texts.secret : undefined;
  return createdPage(services, request, { ...outcome.done, secret }, "Trigger created");
}, environmentFormOptions);

/** The type hides its fields of verification: a refused form comes back with them as they start. */
function withoutHiddenFields(draft: TriggerDraft): TriggerDraft {
  if (draft.texts.type !== "webhook") return draft;
  return { ...draft, isVerified: true, isGenerated: false };
}

interface NewTriggerForm {
  pipeline: PipelineFacts;
  /** The new trigger's id: a form that is sent twice creates one. */
  id: string;
  draft: TriggerDraft;
  problems?: FormProblems;
}

function newPage({ config }: Services, request: MemberRequest, form: NewTriggerForm): PageContent {
  const { pipeline, id, draft, problems } = form;
  const { organization } = request;
  return narrowPage({
    title: "New trigger",
    problems,
    script: "once.js",
    section: "pipelines",
    heading: (
      <>
        New trigger of {pipeline.name} <PublicPreview />
      </>
    ),
    content: (
      <>
        <p>
          Each delivery makes a build of the branch and commit that the trigger names, whatever was pushed. To
          build the commits of pushes,{" "}
          <a href={pipelinePath(request, patterns.providerPage)}>connect the repository</a> instead.
        </p>
        <PostForm
          path={pipelinePath(request, patterns.newTriggerPage)}
          id={id}
          button="Create trigger"
          back={pipelinePath(request, patterns.triggersPage)}
        >
          <TriggerFields
            draft={draft}
            problems={problems}
            types={triggerTypes(config.issueTracker)}
            filter={organization.features.includes("webhook_filtering") ? "available" : "unavailable"}
            settings={filterSettings(request)}
          />
        </PostForm>
      </>
    ),
  });
}

function limitReachedPage(request: MemberRequest, pipeline: PipelineFacts): PageContent {
  return narrowPage({
    title: "New trigger",
    section: "pipelines",
    heading: `New trigger of ${pipeline.name}`,
    content: (
      <>
        <p>
          The pipeline has {maxTriggersPerPipeline} triggers already, which is the maximum. Delete one first.
        </p>
        <p>
          <LinkButton href={pipelinePath(request, patterns.triggersPage)} text="Go to the triggers" />
        </p>
      </>
    ),
  });
}
